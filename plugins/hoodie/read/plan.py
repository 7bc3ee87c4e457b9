"""Plan of a query: its files, columns and row groups. Effects: listings only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.groups import READ_OPTIONS
from hoodie.config.key import Options, resolve
from hoodie.config.keys.memory import MergeMemory
from hoodie.config.keys.read import CHECK_FILES, READ_KEYS, USE_POSITIONS
from hoodie.config.service_options import own_options
from hoodie.keygen import StoredKeys
from hoodie.merge import MergeRules, merge_rules
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.model.time import Time
from hoodie.read.columns import columns_of_all, read_columns
from hoodie.read.filters import as_expression
from hoodie.read.incremental import IncrementalRange, incremental_range
from hoodie.read.prune import Pruning, pruning_of
from hoodie.read.query import Query, Snapshot
from hoodie.read.times import check_not_cleaned, resolve_as_of
from hoodie.schema import with_meta_columns
from hoodie.schema.history import StoredColumns
from hoodie.timeline import Instant, Timeline
from hoodie.view import TableState, TableView
from hoodie.view.log_blocks import LogCheck, log_check
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.restore import as_restored
from hoodie.view.table_schema import table_schema


@dataclass(frozen=True, repr=False)
class ReadPlan:
    """A query, ready to run."""

    slices: tuple[FileSlice, ...]
    schema: pa.Schema  # columns of the result
    scanned: pa.Schema  # what is read of slices without logs (see `ReadColumns`)
    merging: pa.Schema  # columns to read of slices with logs, with those for merging
    keys: StoredKeys
    pruning: Pruning
    rules: MergeRules
    timeline: Timeline
    memory: MergeMemory
    use_positions: bool
    as_of: Time | None
    left_out: int  # folders that the filter's partition columns rule out, each of a partition or of several
    columns: StoredColumns  # what files of other times call them
    written: IncrementalRange | None
    """The range of an incremental read whose rows are all wanted; None: the query asks something else."""
    log_check: LogCheck  # which damaged logs are refused

    def __repr__(self) -> str:
        return f"ReadPlan({self.explain()})"

    @property
    def filter(self) -> pc.Expression | None:
        """Filter for each row: the query's filter, and that a commit of its range wrote it."""
        return self.pruning.filter

    @property
    def bytes(self) -> int:
        """Size of the files, before columns and row groups are left out."""
        return sum(file_slice.size for file_slice in self.slices)

    @property
    def of_slice(self) -> ReadPlan:
        """The part that the reader of one slice needs."""
        return replace(self, slices=(), written=None, pruning=self.pruning.of_files)

    def settled(self) -> frozenset[str]:
        """Partitions all of whose rows pass the filter."""
        return self.pruning.settled(sorted({file_slice.partition for file_slice in self.slices}))

    def explain(self) -> str:
        """The plan in words."""
        partitions = len({file_slice.partition for file_slice in self.slices})
        logs = sum(bool(file_slice.log_files) for file_slice in self.slices)
        return (
            f"{len(self.slices)} file slices of {partitions} partitions, {self.bytes} bytes; {logs} of them have logs; "
            f"columns {', '.join(self.scanned.names)}; folders left out by the filter: {self.left_out}"
        )


@retried_when_missing
def plan_read(state: TableState, query: Query) -> ReadPlan:
    """Plan any read. An incremental one lists only partitions that the commits touched.

    Raises ConfigError and UnsupportedTableError (see `read_columns` and `incremental_range`; also for a merger that is not
    known), MissingFileError and CorruptFileError (see `TableView.check`; not with CHECK_FILES off), and TimeTravelError: for a
    moment before the first commit, or one whose files a clean removed, naming the first instant that can be read. An incremental
    read without an end never meets the latter: the newest files hold every row that is left.
    """
    return plan_once(state, query)


def plan_once(state: TableState, query: Query) -> ReadPlan:
    """`plan_read` of this very state, of which a clean may have removed files since."""
    options = resolve(own_options(query.options, READ_OPTIONS), READ_KEYS)
    state = as_restored(state)
    if isinstance(query.kind, Snapshot):
        return _plan(state, query, _as_of(state, query.kind), options)
    commit_range = incremental_range(state, query.kind)
    rows = commit_range.rows()
    narrowed = replace(query, partitions=_in_both(commit_range.partitions, query.partitions))
    plan = _plan(state, narrowed, commit_range.as_of, options, rows, commit_range.later, commit_range.archived)
    return replace(plan, written=commit_range) if query.filter is None else plan


def plan_before(state: TableState, query: Query, later: Collection[Instant]) -> ReadPlan:
    """Plan a read of the rows that the table had before these commits. Raises what `plan_read` raises."""
    return _plan(state, query, None, resolve(own_options(query.options, READ_OPTIONS), READ_KEYS), later=later)


def snapshot_columns(state: TableState, query: Query, kind: Snapshot) -> pa.Schema:
    """The columns of a snapshot `query` that names none. Raises TimeTravelError."""
    return columns_of_all(state.properties, _schema(state, _as_of(state, kind)), query)


def _plan(
    state: TableState,
    query: Query,
    as_of: Time | None,
    options: Options,
    rows: pc.Expression | None = None,
    later: Collection[Instant] = (),
    archived: Sequence[Instant] = (),
) -> ReadPlan:
    """`rows` is a filter in addition to the query's. The commits `later` are not read. Files of these
    `archived` commits must be there, too."""
    now, state = state, state.before(later)
    schema_state, at = (now, None) if query.current_columns else (state, as_of)
    schema = _schema(schema_state, at)
    condition = as_expression(query.filter, with_meta_columns(schema))
    filter = rows if condition is None else condition if rows is None else rows & condition
    columns = read_columns(state.properties, schema, query, filter)
    pruning = pruning_of(state.properties, columns, filter)
    view = TableView(state, query.partitions, pruning.partitions, as_of)
    check_not_cleaned(view)
    if options[CHECK_FILES]:
        view.check()
        if archived and (as_of is None or state.timeline.covers(as_of)):  # otherwise `check` has asked all of them
            view.check_archived(archived)
    slices = view.slices
    if isinstance(query.kind, Snapshot) and query.kind.read_optimized:
        slices = [replace(file_slice, log_files=()) for file_slice in slices]
    rules = merge_rules(state.properties) if any(s.log_files for s in slices) else MergeRules((), ())
    return ReadPlan(
        slices=tuple(slices),
        schema=columns.result,
        scanned=columns.scanned,
        merging=columns.named(
            (*columns.scanned.names, RECORD_KEY, PARTITION_PATH, *rules.columns(columns.table_columns))
        ),
        keys=columns.keys,
        pruning=pruning,
        rules=rules,
        timeline=state.timeline,
        memory=MergeMemory.of(options),
        use_positions=options[USE_POSITIONS],
        as_of=as_of,
        left_out=len(view.left_out),
        columns=StoredColumns.of(schema, schema_state.schemas_as_of(at), at),
        written=None,
        log_check=log_check(state.layout, needed=options[CHECK_FILES]),
    )


def _as_of(state: TableState, kind: Snapshot) -> Time | None:
    return None if kind.as_of is None else resolve_as_of(state, kind.as_of)


def _schema(state: TableState, as_of: Time | None) -> pa.Schema:
    return table_schema(state, as_of) or pa.schema([])


def _in_both(touched: Sequence[str] | None, named: Sequence[str] | None) -> Sequence[str] | None:
    """The partitions of both; None is all of them."""
    if touched is None or named is None:
        return named if touched is None else touched
    return [partition for partition in touched if partition in named]


def current_slices(state: TableState, as_of: Time | None = None) -> list[FileSlice]:
    """The slices that make up the table, now or at the instant `as_of`."""
    view = TableView(as_restored(state), as_of=as_of)
    check_not_cleaned(view)
    return list(view.slices)

"""Planning a purge: files that hold the rows, what goes now, and what a savepoint, a consumer or a plan still holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.config.key import Options
from hoodie.config.keys.bootstrap import SOURCE
from hoodie.config.properties.table import TableProperties
from hoodie.display import counted
from hoodie.engine.base import Engine
from hoodie.keygen.generator import key_generator
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.read.execute import read_rows
from hoodie.read.query import Query
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, weighed
from hoodie.services.purge import journal
from hoodie.services.purge.removal import Removal, Wish, removal_of
from hoodie.services.purge.search import SearchResult, in_metadata_table, in_table, is_copy, search
from hoodie.services.purge.subject import KEY, KEYS, PARTITION, Subject, subject_of, united
from hoodie.services.purge.trace import Trace
from hoodie.services.stages import Item, Items, KeptByPurge, LeftFile, PurgeScope
from hoodie.view import TableState, TableView
from hoodie.view.files import sizes_by_path

# With more pairs of partition and key a row that changed its partition is found by the condition alone.
_MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class PurgePlan:
    """A purge of a table as it is: current `rows` to delete, groups to rewrite, old files and copies to remove."""

    subject: Subject
    rows: int
    groups: frozenset[GroupId]  # groups in which any file has a trace
    rewritten: tuple[FileSlice, ...]
    removal: Removal
    copies: tuple[Trace, ...]  # below `.hoodie/.deleted` and `.hoodie/.quarantine`
    unhandled: tuple[
        Trace, ...
    ]  # traces that no step of a purge removes, such as texts in the timeline, or logs that no slice has
    index: tuple[Trace, ...] = ()  # in Hudi's metadata table, which any change of the table by this library deletes
    outside: str | None = None  # the source of a bootstrap, whose files are not searched

    @property
    def is_done(self) -> bool:
        """Return whether there is nothing to erase."""
        return not (self.rows or self.rewritten or self.removal.files or self.copies or self.index)


def decide_purge(state: TableState, wish: Wish, options: Options, clock: Clock, engine: Engine) -> Decision[PurgePlan]:
    """Search every file of the table and decide what a purge does. Changes nothing.

    Raises ArgumentError for a condition that cannot be read, UnsupportedTableError for a table without record keys, and what
    `search` raises.
    """
    result = find(state, wish, engine)
    plan = plan_of(state, result.subject, result.traces, wish, options, clock, engine)
    return decision_of(state, plan, result.traces, options)


def decision_of(state: TableState, plan: PurgePlan, traces: Sequence[Trace], options: Options) -> Decision[PurgePlan]:
    """The decision for a plan and the traces that it was made of."""
    going, keys = _going(plan, traces), plan.subject.key_count
    size = sum(item.bytes for item in going)
    table_bytes = sum(sizes_by_path(TableView(state).files).values())
    left = tuple(LeftFile(trace.path, trace.contents) for trace in plan.unhandled)
    in_files = f"{counted(len(traces), 'file')} with something of {counted(keys, 'key')}"
    return Decision(
        None if plan.is_done else plan,
        f"{counted(plan.rows, 'row')} in the table, {in_files}",
        (
            PurgeScope(
                plan.subject.digest,
                plan.rows,
                keys,
                len(plan.rewritten),
                len(plan.index),
                ends_time_travel=bool(plan.removal.files),
            ),
            Items("erase", going, size),
            KeptByPurge(plan.removal.held_files, left, plan.outside, plan.subject.unsearched),
        ),
        deletion=weighed(len(going), size, table_bytes, Caps.of(options), lambda: table_bytes),
    )


def find(state: TableState, wish: Wish, engine: Engine) -> SearchResult:
    """The search for the subject with the keys of its rows in any file.

    It begins with the keys of the rows that the table shows. If files hold keys of more rows, they are searched again with those.
    """
    condition = subject_of(state, wish.condition)
    known = united(iter([journal.read_keys(state.storage, condition.digest), current_keys(state, condition, engine)]))
    first = _with_keys(state, condition, known, engine)
    result = search(state, first, engine)
    keys = united(iter([known, *(trace.keys for trace in result.traces)]))
    if keys.equals(known):
        return result
    subject = _with_keys(state, condition, keys, engine)
    return result if subject.keys.equals(first.keys) else search(state, subject, engine)


def _with_keys(state: TableState, subject: Subject, keys: pa.Table, engine: Engine) -> Subject:
    erased = _without_living(state, subject, _in_all_partitions(state, keys), engine)
    return Subject(subject.condition, subject.schema, erased)


def current_keys(state: TableState, subject: Subject, engine: Engine) -> pa.Table:
    """The keys of the rows that the table shows where the condition is true."""
    if state.properties.virtual_keys:
        return KEYS.empty_table()  # those that the search finds; no column holds the path
    rows = read_rows(state, Query([PARTITION_PATH, RECORD_KEY], subject.expression), engine)
    return rows.rename_columns([PARTITION, KEY]).cast(KEYS)


def current_rows(state: TableState, subject: Subject, engine: Engine) -> pa.Table:
    """The rows that the table shows where the condition is true: the columns of keys and partitions."""
    return read_rows(state, Query(_key_columns(state.properties), subject.expression), engine)


def _key_columns(properties: TableProperties) -> list[str]:
    named = [name.partition(".")[0] for name in (*properties.record_key_fields, *properties.partition_fields)]
    return list(dict.fromkeys(named))


def _in_all_partitions(state: TableState, keys: pa.Table) -> pa.Table:
    """The keys in every partition, as a row may have been in another one before. Too many pairs, and keys that no column holds,
    stay as they are."""
    partitions = state.files.partitions()
    if state.properties.virtual_keys or keys.num_rows * len(partitions) > _MOST_PAIRS:
        return keys
    distinct = pc.unique(keys[KEY])
    pairs = [
        pa.table([pa.repeat(pa.scalar(path, pa.string()), len(distinct)), distinct], schema=KEYS) for path in partitions
    ]
    return united(iter([keys, *pairs]))


def _without_living(state: TableState, subject: Subject, keys: pa.Table, engine: Engine) -> pa.Table:
    """The keys but for those whose current row does not meet the condition: an old version met it. That row stays."""
    if not keys.num_rows:
        return keys
    rows = _living(state, subject, keys, engine)
    both = [table.select([PARTITION, KEY]).cast(KEYS) for table in (rows, rows.filter(subject.expression))]
    living = both[0].join(both[1], [PARTITION, KEY], join_type="left anti")
    return united(iter([keys.join(living, [PARTITION, KEY], join_type="left anti").select([PARTITION, KEY])]))


def _living(state: TableState, subject: Subject, keys: pa.Table, engine: Engine) -> pa.Table:
    """The rows that the table shows of these keys, with the columns of the condition, and `PARTITION` and `KEY`."""
    columns, properties = subject.columns.names, state.properties
    if not properties.virtual_keys:
        columns = list(dict.fromkeys([PARTITION_PATH, RECORD_KEY, *columns]))
        rows = read_rows(state, Query(columns, pc.field(RECORD_KEY).isin(pc.unique(keys[KEY]))), engine)
        key_columns = rows[PARTITION_PATH], rows[RECORD_KEY]
    else:
        rows = read_rows(state, Query(list(dict.fromkeys([*_key_columns(properties), *columns]))), engine)
        record_keys, paths = key_generator(properties)
        key_columns = paths.of(rows), record_keys.of(rows)
    return rows.append_column(PARTITION, key_columns[0]).append_column(KEY, key_columns[1])


def plan_of(
    state: TableState,
    subject: Subject,
    traces: Sequence[Trace],
    wish: Wish,
    options: Options,
    clock: Clock,
    engine: Engine,
) -> PurgePlan:
    """The plan for these traces."""
    view = TableView(state)
    paths = {trace.path for trace in in_table(traces)}
    groups = frozenset(file.group for files in view.files for file in files.files if file.path in paths)
    rewritten = tuple(file_slice for file_slice in view.latest() if paths.intersection(file_slice.paths))
    removal = removal_of(view, groups, paths, wish, options, clock, rewritten)
    copies = tuple(trace for trace in traces if is_copy(trace.path))
    index = tuple(trace for trace in traces if in_metadata_table(trace))
    handled = {file.path for file in removal.files} | {file.path for file in removal.held_files}
    handled |= {trace.path for trace in (*copies, *index)}
    remaining = tuple(trace for trace in traces if trace.path not in handled)
    rows = current_rows(state, subject, engine).num_rows
    return PurgePlan(
        subject, rows, groups, rewritten, removal, copies, remaining, index, state.properties.raw.get(SOURCE.name)
    )


def _going(plan: PurgePlan, traces: Sequence[Trace]) -> list[Item]:
    """The files that the run erases, each with its traces."""
    contents = {trace.path: trace.contents for trace in traces}
    items = [
        Item(file.path, file.size, f"{file.reason}{_holds(contents.get(file.path))}") for file in plan.removal.files
    ]
    items += [Item(trace.path, trace.size, f"a copy{_holds(trace.contents)}") for trace in plan.copies]
    items += [Item(trace.path, trace.size, f"Hudi's metadata table{_holds(trace.contents)}") for trace in plan.index]
    parts = (plan.subject.digest, str(plan.rows))  # approval is of these rows, not of all that lie in the same files
    return [replace(item, parts=parts) for item in items]


def _holds(contents: str | None) -> str:
    return f"; holds {contents}" if contents else ""

"""Which files, columns and row groups answer a snapshot query (design rule 4). Effects: listings only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.key import resolve
from hoodie.config.memory_keys import MergeMemory
from hoodie.config.own import Service, own_options
from hoodie.config.read_keys import READ_KEYS, USE_POSITIONS
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.keygen import StoredKeys, stored_keys
from hoodie.merge import MergeRules, merge_rules
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from hoodie.read.prune import PartitionFilter, partition_filter
from hoodie.read.times import check_not_cleaned, resolve_as_of
from hoodie.schema import top_level, with_meta_columns
from hoodie.timeline import Timeline
from hoodie.view import (
    Choice,
    PartitionFiles,
    TableState,
    file_groups,
    latest_slices,
    list_all_files,
    list_chosen_files,
    list_partition_files,
    replaced_groups,
)
from hoodie.view.missing import check_files, chosen_partitions, looked_at_again
from hoodie.view.table_schema import table_schema


@dataclass(frozen=True)
class ReadPlan:
    """A snapshot query, ready to run."""

    slices: tuple[FileSlice, ...]
    schema: pa.Schema  # of the result
    scanned: (
        pa.Schema
    )  # of what is read: the result's columns, but no meta columns where keys are virtual, and the filter's
    filter: pc.Expression | None
    asked: pa.Schema  # of the filter
    merging: pa.Schema  # what is read of slices with logs: besides, what merging has to see
    rules: MergeRules
    keys: StoredKeys
    timeline: Timeline
    memory: MergeMemory
    use_positions: bool = True
    as_of: str | None = None
    left_out: int = 0  # folders that the filter's partition columns rule out, each of a partition or of several
    by_partition: PartitionFilter | None = (
        None  # the filter as it is asked of partitions; None: it says nothing of them
    )

    @property
    def bytes(self) -> int:
        """Size of the files, before columns and row groups are left out."""
        return sum(file_slice.size for file_slice in self.slices)

    @property
    def of_slice(self) -> ReadPlan:
        """What the reader of one slice needs of it."""
        return replace(self, slices=(), by_partition=None)

    def settled(self) -> frozenset[str]:
        """Partitions all of whose rows pass the filter."""
        partitions = sorted({file_slice.partition for file_slice in self.slices})
        return frozenset() if self.by_partition is None else self.by_partition.whole(partitions)

    def explain(self) -> str:
        """What is read, in words."""
        partitions = len({file_slice.partition for file_slice in self.slices})
        logs = sum(bool(file_slice.log_files) for file_slice in self.slices)
        return (
            f"{len(self.slices)} file slices of {partitions} partitions, {self.bytes} bytes; {logs} of them have logs; "
            f"columns {', '.join(self.scanned.names)}; folders left out by the filter: {self.left_out}"
        )


@looked_at_again
def plan_read(
    state: TableState,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,
    as_of: str | datetime | None = None,
    partitions: Sequence[str] | None = None,
    read_optimized: bool = False,
    options: Mapping[str, object] | None = None,
) -> ReadPlan:
    """Plan a snapshot read. `columns` may name meta columns, null where keys are virtual; None is all data columns.

    `read_optimized` leaves the logs of a merge-on-read table out: what the last compaction left. `options` are the keys of
    `hoodie.config.read_keys`. Raises ConfigError for an unknown column or a filter on meta columns that are null,
    TimeTravelError, MissingFileError (see `check_files`), UnsupportedTableError for a merger that is not known.
    """
    chosen = resolve(own_options(options or {}, Service.READ), READ_KEYS)
    time = resolve_as_of(state, as_of) if as_of is not None else None
    data = table_schema(state, time) or pa.schema([])
    known = with_meta_columns(data)
    wanted = list(data.names if columns is None else columns)
    filter_columns = _columns_of(filter, known)
    for name in wanted:
        if name not in known.names:
            raise ConfigError(
                f"Table {state.properties.name!r} has no column {name!r}", found=f"columns {', '.join(known.names)}"
            )
    keys = stored_keys(state.properties, data)
    absent = META_COLUMNS if keys.virtual else ()
    for name in filter_columns:
        if name in absent:
            raise ConfigError(
                f"A filter cannot use the column {name!r} of table {state.properties.name!r}",
                found="virtual keys (hoodie.populate.meta.fields=false): meta columns are null",
                fix="filter by the columns that keys and partitions are made of",
            )
    scanned = [name for name in dict.fromkeys([*wanted, *filter_columns]) if name not in absent]
    if wanted and not scanned:  # something has to count the rows
        scanned = keys.columns.names[:1]
    _check_in_files(state, scanned)
    choice = partition_filter(state.properties, known, filter, filter_columns)
    found = _slices(state, time, partitions, choice)
    check_files(state, found.slices, found.partitions, time)
    slices = found.slices
    if read_optimized:
        slices = [replace(file_slice, log_files=()) for file_slice in slices]
    rules = merge_rules(state.properties) if any(s.log_files for s in slices) else MergeRules((), ())
    merging = dict.fromkeys([*scanned, RECORD_KEY, PARTITION_PATH, *rules.columns(known)])
    return ReadPlan(
        tuple(slices),
        pa.schema([known.field(name) for name in wanted]),
        pa.schema([known.field(name) for name in scanned]),
        filter,
        pa.schema([known.field(name) for name in filter_columns]),
        pa.schema([known.field(name) for name in merging]),
        rules,
        keys,
        state.timeline,
        MergeMemory.of(chosen),
        chosen[USE_POSITIONS],
        time,
        found.left_out,
        choice,
    )


def current_slices(
    state: TableState, as_of: str | None = None, partitions: Sequence[str] | None = None
) -> list[FileSlice]:
    """The slices that make up the table, now or at the instant `as_of`, of all or the named partitions."""
    return _slices(state, as_of, partitions, None).slices


@dataclass(frozen=True, slots=True)
class _Slices:
    slices: list[FileSlice]
    partitions: Sequence[str] | None  # that were looked at; None: all
    left_out: int = 0  # folders that the choice ruled out


def _slices(state: TableState, as_of: str | None, partitions: Sequence[str] | None, choice: Choice | None) -> _Slices:
    listed: Sequence[PartitionFiles]
    left_out = 0
    if choice is not None:
        chosen = list_chosen_files(state.storage, choice, partitions)
        listed, left_out = chosen.files, len(chosen.left_out)
        # Of named ones all that are wanted were listed, be they there or not.
        named = partitions is not None
        partitions = [each.partition for each in listed] if named else chosen_partitions(state, chosen, choice)
    elif partitions is not None:
        listed = list_partition_files(state.storage, partitions)
    else:
        listed = list_all_files(state.storage)
    groups = file_groups(listed, state)
    if as_of is not None:
        check_not_cleaned(state, as_of, groups, choice)
    return _Slices(latest_slices(groups, replaced_groups(state, as_of), as_of), partitions, left_out)


def _check_in_files(state: TableState, names: Sequence[str]) -> None:
    """Raises UnsupportedTableError for partition columns that only folders tell: they would be null."""
    properties = state.properties
    lacking = [name for name in top_level(properties.partition_fields) if name in names]
    if properties.drops_partition_columns and lacking:
        raise UnsupportedTableError(
            f"Columns {', '.join(lacking)} of table {properties.name!r} cannot be read",
            found="hoodie.datasource.write.drop.partition.columns=true: partition columns are not in the data files",
            fix="name other columns, or read them with Hudi",
        )


def _columns_of(expression: pc.Expression | None, known: pa.Schema) -> list[str]:
    """The columns that a filter mentions. Arrow does not tell, so each is tried: without it the filter fails to bind."""
    if expression is None:
        return []
    empty = known.empty_table()
    try:
        # Some kernels look at their types only when there is a row, such as that which compares times.
        pa.table([pa.nulls(1, field.type) for field in known], schema=known).filter(expression)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ConfigError(
            "The filter does not fit the table",
            found=str(error),
            fix="columns are " + ", ".join(f"{field.name} ({field.type})" for field in known),
        ) from error
    needed = []
    for name in known.names:
        try:
            empty.drop_columns([name]).filter(expression)
        except pa.ArrowInvalid:
            needed.append(name)
    return needed

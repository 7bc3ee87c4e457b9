"""Changes that messages say as rows that an upsert takes; changes that no row can be made of are rejected one by one. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hoodie.model.changes import AFTER, BEFORE, OP
from hoodie.model.internal_columns import DELETION, ORDER
from hoodie.write.change_rows import DELETES, UPSERTS, ChangeColumns, ChangeRows, rows_of_plan
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.changes.rows import DELETED
from hudi_services.sources.ingest.checks import RowChecks
from hudi_services.sources.ingest.kafka.missing_values import completed
from hudi_services.sources.ingest.kafka.stored_rows import StoredRows

PLACE = "place"
"""The place of a change among those of the batch, which orders them: several may be of one message."""
_ROW = "row"
_UPDATES = ("u", "U", "+U")
Flags = tuple[np.ndarray, str]
"""The changes that are bad, and why."""


@dataclass(frozen=True)
class Applied:
    """The rows, the places of their changes, and the reasons why others are rejected, by their places."""

    rows: pa.Table
    places: pa.ChunkedArray
    rejected: dict[int, str]


def image_columns(changes: pa.Table) -> pa.Schema:
    """The columns of the rows that these changes write, with `DELETED`."""
    fields: dict[str, pa.Field] = {}
    for image in (AFTER, BEFORE):
        for column in changes.schema.field(image).type:
            fields.setdefault(column.name, column.with_nullable(True))
    return pa.schema([*fields.values(), pa.field(DELETED, pa.bool_())])


def applied(
    changes: pa.Table,
    plan: WritePlan,
    *,
    are_rows: bool = False,
    unavailable: Mapping[str, np.ndarray] | None = None,
    stored: StoredRows | None = None,
) -> Applied:
    """The rows of an upsert that applies the changes: of each key the last one.

    If messages `are_rows`, a table with an ordering column gets all of them, and decides itself. Columns are `unavailable` in
    changes of these numbers: they get the values of the row before, in the batch or in the `stored` rows of the table.

    Raises ConfigError for a table that would decide between changes in place of their source, SchemaConflictError for images of
    two types, DataError where two changes of a key have one place.
    """
    changes = changes.append_column(PLACE, pa.array(np.arange(changes.num_rows)))
    lacking = {
        name: row_numbers
        for name, numbers in (unavailable or {}).items()
        if len(row_numbers := _with_numbers(changes, numbers))
    }
    make = rows_of_plan(plan, changes.schema, ChangeColumns(OP, (PLACE,)))
    rejected: dict[int, str] = {}
    bad = np.zeros(changes.num_rows, dtype=bool)
    for flags, reason in (*_flaws(changes, plan), *_unordered(changes, make, lacking)):
        rejected |= dict.fromkeys(np.flatnonzero(flags & ~bad).tolist(), reason)
        bad |= flags
    good = changes.filter(pa.array(~bad)) if bad.any() else changes
    place = f"{ORDER}0"
    if make.ordering and not are_rows:
        raise _two_orders(make.ordering)
    keyed = make.keyed(good)
    if make.ordering:
        newest = keyed.sort_by(place)
    elif lacking:
        newest, lost = _completed(keyed, make, lacking, stored)
        rejected |= lost
    else:
        newest = make.last(keyed, place)
    places = newest[place]
    names = [DELETED if name == DELETION else name for name in make.schema.names]
    return Applied(newest.select(make.schema.names).rename_columns(names), places, rejected)


def _with_numbers(changes: pa.Table, numbers: np.ndarray) -> np.ndarray:
    """The places of changes with these numbers."""
    return np.flatnonzero(np.isin(changes["number"].to_numpy(), numbers))


def _unordered(changes: pa.Table, make: ChangeRows, lacking: Mapping[str, np.ndarray]) -> Iterator[Flags]:
    """Rows whose order the table decides: which one is before another is not known here."""
    for name, places in lacking.items() if make.ordering else ():
        flags = np.zeros(changes.num_rows, dtype=bool)
        flags[places] = True
        yield flags, f"the connector did not send {name!r}, and the table orders its rows by a column"


def _completed(
    keyed: pa.Table, make: ChangeRows, lacking: Mapping[str, np.ndarray], stored: StoredRows | None
) -> tuple[pa.Table, dict[int, str]]:
    """The last row of each key with the values that its message lacks, and why changes are rejected."""

    def values(keys: pa.Table, names: Sequence[str]) -> pa.Table:
        return stored.values(keys, make, names) if stored is not None else keys.select(make.identity).slice(0, 0)

    place = f"{ORDER}0"
    result = completed(keyed, lacking, make.identity, place, values)
    numbered = keyed.append_column(_ROW, pa.array(np.arange(keyed.num_rows)))
    last = make.last(numbered.filter(pa.array(result.kept)), _ROW)
    return result.filled(keyed, last[_ROW].to_numpy()), dict(result.rejected)


def _two_orders(ordering: Sequence[str]) -> ConfigError:
    return ConfigError(
        "The table cannot take changes by its ordering columns",
        found=f"ordering by {', '.join(ordering)}: it would drop a change whose value is lower, though the source has decided",
        fix="create the table without ordering columns (`keys.ordering`, hoodie.table.ordering.fields)",
    )


def _flaws(changes: pa.Table, plan: WritePlan) -> Iterator[Flags]:
    ops = changes[OP].cast(pa.string())
    deletes = _numpy(pc.is_in(ops, value_set=pa.array(DELETES)))
    known = deletes | _numpy(pc.is_in(ops, value_set=pa.array(UPSERTS)))
    yield ~known, "its operation is not known"
    has = {name: _numpy(pc.is_valid(changes[name])) for name in (BEFORE, AFTER)}
    yield known & deletes & ~has[BEFORE], "a delete without the row that it deletes"
    yield known & ~deletes & ~has[AFTER], "no row after the change"
    places = bool(plan.paths.fields) and not plan.global_keys
    if places:
        updates = _numpy(pc.is_in(ops, value_set=pa.array(_UPDATES)))
        lacks = "an update without the row before, whose partition is not known: have the source send it, or use a global index"
        yield updates & ~has[BEFORE], lacks
    checks = RowChecks.of_plan(plan)
    for name, has_image in ((BEFORE, has[BEFORE]), (AFTER, ~deletes & has[AFTER])):
        numbers = np.flatnonzero(known & has_image)
        rows = _rows(changes[name], numbers, plan)
        for flags, reason in checks.failed(rows):
            yield _at(numbers, flags, len(known)), reason
        if places and name == BEFORE:
            bare = "a delete with nothing but its key, whose partition is not known: have the source send the row before, or use "
            yield _at(numbers, deletes[numbers] & _bare(rows, plan), len(known)), bare + "a global index"


def _rows(image: pa.ChunkedArray, numbers: np.ndarray, plan: WritePlan) -> pa.Table:
    """One image of some changes, with nulls for columns that it lacks and that make keys or partitions."""
    images = image.combine_chunks().take(pa.array(numbers))
    columns = dict(zip((field.name for field in images.type), images.flatten(), strict=True))
    for column in plan.schema:
        columns.setdefault(column.name, pa.nulls(len(images), column.type))
    return pa.table(columns)


def _bare(rows: pa.Table, plan: WritePlan) -> np.ndarray:
    """The rows that have nothing but their key."""
    bare = np.ones(rows.num_rows, dtype=bool)
    inside = {name.partition(".")[0] for name in plan.paths.fields}
    keys = {name.partition(".")[0] for name in plan.record_keys.fields}
    for name in rows.schema.names:
        if name in inside or name not in keys:
            bare &= _numpy(pc.is_null(rows[name]))
    return bare


def _at(numbers: np.ndarray, flags: np.ndarray, count: int) -> np.ndarray:
    result = np.zeros(count, dtype=bool)
    result[numbers[flags]] = True
    return result


def _numpy(values: pa.ChunkedArray) -> np.ndarray:
    result: np.ndarray = values.combine_chunks().to_numpy(zero_copy_only=False)
    return result

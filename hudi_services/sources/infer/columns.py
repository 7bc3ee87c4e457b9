"""Columns of a sample that may be keys, ordering, partitions and times: pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.times import Times
from hudi_services.sources.infer.time_formats import fitting_formats, mixed_formats
from hudi_services.sources.ingest.shape.duck import Duck
from hudi_services.sources.ingest.shape.moments import TimesFit
from hudi_services.sources.key_choice import choose_key, moves

_CHANGED = re.compile(
    r"updated|modified|changed|last_?change|version|revision|^ts$|timestamp|event_?time|_ts$", re.IGNORECASE
)
_TIME = re.compile(r"(_at|time|date|_ts|^ts|^at)$|timestamp", re.IGNORECASE)
_SOME = 50  # partitions that are few
_EPOCHS = {"epoch_s": (10**9, 4 * 10**9), "epoch_ms": (10**12, 4 * 10**12), "epoch_us": (10**15, 4 * 10**15)}


@dataclass
class Roles:
    """Columns for the keys of a table, and what is not sure, by the same words."""

    record_key: tuple[str, ...] = ()
    ordering: str | None = None
    partition: str | None = None
    moves: bool = False  # rows of one key have several values of the partition column
    repeats: int = 0  # rows that are identical to others
    times: dict[str, str] = field(default_factory=dict)  # column -> format
    epochs: dict[str, str] = field(default_factory=dict)
    moments: list[str] = field(default_factory=list)  # times without nulls
    notes: dict[str, str] = field(default_factory=dict)


def roles_of(rows: pa.Table, duck: Duck) -> Roles:
    """The roles that a sample suggests, for names without dots only: a dot leads into a struct."""
    roles = Roles()
    _find_times(rows, duck, roles)
    roles.ordering = _ordering(rows, roles)
    parsed = _with_times(rows, duck, roles)
    distinct = _distinct(parsed, duck)
    roles.repeats = parsed.num_rows - distinct
    _find_key(parsed, distinct, roles)
    _find_partition(parsed, roles)
    return roles


def _with_times(rows: pa.Table, duck: Duck, roles: Roles) -> pa.Table:
    """The rows as a load makes them: two texts may be one time."""
    for name, text in roles.times.items():
        times = TimesFit(Times((text,)), duck)(rows[name].combine_chunks()).column
        rows = rows.set_column(rows.schema.get_field_index(name), name, times)
    return rows


def _distinct(rows: pa.Table, duck: Duck) -> int:
    """The number of rows that differ from each other."""
    return int(duck.run("SELECT count(*) AS count FROM (SELECT DISTINCT * FROM batch)", rows)["count"][0].as_py())


def _find_times(rows: pa.Table, duck: Duck, roles: Roles) -> None:
    for arrow_field in rows.schema:
        column = rows[arrow_field.name].combine_chunks()
        values = column.drop_null()
        if not len(values):
            continue
        if pa.types.is_string(arrow_field.type):
            fitting = fitting_formats(values, duck)
            if fitting:
                roles.times[arrow_field.name] = fitting[0]
                if len(fitting) > 1:
                    roles.notes[f"times.{arrow_field.name}"] = f"or {' or '.join(fitting[1:])}?"
            elif mixed := mixed_formats(values, duck):
                roles.notes[f"formats.{arrow_field.name}"] = json.dumps(mixed)
        elif pa.types.is_integer(arrow_field.type) and _TIME.search(arrow_field.name):
            _find_epoch(arrow_field.name, values, roles)


def _find_epoch(name: str, values: pa.Array, roles: Roles) -> None:
    """The unit in which all numbers of a column may be times. Several units together are noted, and none is chosen."""
    counts = {unit: _count_within(values, *limits) for unit, limits in _EPOCHS.items()}
    units = [unit for unit, count in counts.items() if count]
    if sum(counts.values()) < len(values):
        return
    if len(units) == 1:
        roles.epochs[name] = units[0]
    else:
        amounts = ", ".join(f"{counts[unit]:,} as {unit}" for unit in units)
        roles.notes[f"epochs.{name}"] = f"{len(values):,} numbers look like times in several units ({amounts})"


def _count_within(values: pa.Array, low: int, high: int) -> int:
    within = pc.and_(pc.greater_equal(values, low), pc.less(values, high))
    return int(pc.sum(within).as_py() or 0)


def _ordering(rows: pa.Table, roles: Roles) -> str | None:
    """A time or number without nulls whose name says that it is of the last change."""
    fit = [column.name for column in rows.schema if _is_ordered(column.type) or column.name in roles.times]
    roles.moments = [
        name
        for name in fit
        if "." not in name and (name in roles.times or pa.types.is_timestamp(rows.schema.field(name).type))
        if rows.num_rows and not rows[name].null_count
    ]
    named = [name for name in fit if "." not in name and _CHANGED.search(name)]
    full = [name for name in named if rows.num_rows and not rows[name].null_count]
    if len(full) > 1:
        roles.notes["ordering"] = f"or {', '.join(full[1:])}?"
    if named and not full:
        roles.notes["ordering"] = f"{named[0]} has nulls in the sample: such rows would go to the quarantine"
    return full[0] if full else None


def _find_key(rows: pa.Table, distinct: int, roles: Roles) -> None:
    choice = choose_key(rows, distinct, roles.ordering)
    roles.record_key = choice.columns
    if choice.note is not None:
        roles.notes["record_key"] = choice.note


def _find_partition(rows: pa.Table, roles: Roles) -> None:
    """Find the partition: a column of dates, each of which has many rows. Without a key there is none."""
    for arrow_field in rows.schema if roles.record_key else ():
        column = rows[arrow_field.name]
        if "." in arrow_field.name or arrow_field.name == roles.ordering or column.null_count:
            continue
        few = (
            rows.num_rows and pc.count_distinct(column).as_py() * 10 <= rows.num_rows
            if _has_order(arrow_field.type)
            else False
        )
        if few and pa.types.is_date(arrow_field.type):
            roles.partition = arrow_field.name
            roles.moves = moves(rows, roles.record_key, arrow_field.name)
            return
        free = arrow_field.name not in roles.record_key
        if few and free and pa.types.is_string(arrow_field.type) and pc.count_distinct(column).as_py() <= _SOME:
            roles.notes.setdefault("partition", arrow_field.name)


def _is_ordered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind))


def _has_order(kind: pa.DataType) -> bool:
    return _is_ordered(kind) or bool(pa.types.is_string(kind))

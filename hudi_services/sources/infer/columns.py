"""Columns of a sample that may be keys, ordering, partitions and times: pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.times import Times
from hudi_services.sources.ingest.shape.duck import Duck
from hudi_services.sources.ingest.shape.moments import TimesFit

_KEY = re.compile(r"(^|_| )(id|uuid|guid|key|no|nr|num|number|code)$", re.IGNORECASE)
_BEST_KEY = re.compile(r"^(id|uuid|guid|key|pk)$", re.IGNORECASE)
_CHANGED = re.compile(
    r"updated|modified|changed|last_?change|version|revision|^ts$|timestamp|event_?time|_ts$", re.IGNORECASE
)
_TIME = re.compile(r"(_at|time|date|_ts|^ts|^at)$|timestamp", re.IGNORECASE)
_PLACES = 8  # columns that are tried together as a key
_SOME = 50  # partitions that are few
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p")
_EPOCHS = {"epoch_s": (10**9, 4 * 10**9), "epoch_ms": (10**12, 4 * 10**12), "epoch_us": (10**15, 4 * 10**15)}


@dataclass
class Roles:
    """Columns for the keys of a table, and what is not sure, by the same words."""

    record_key: tuple[str, ...] = ()
    ordering: str | None = None
    partition: str | None = None
    times: dict[str, str] = field(default_factory=dict)  # column -> format
    epochs: dict[str, str] = field(default_factory=dict)
    moments: list[str] = field(default_factory=list)  # times without nulls
    notes: dict[str, str] = field(default_factory=dict)


def roles_of(rows: pa.Table, duck: Duck) -> Roles:
    """The roles that a sample suggests, for names without dots only: a dot leads into a struct."""
    found = Roles()
    _find_times(rows, duck, found)
    found.ordering = _ordering(rows, found)
    _find_key(rows, found)
    _find_partition(rows, found)
    return found


def _find_times(rows: pa.Table, duck: Duck, found: Roles) -> None:
    for each in rows.schema:
        column = rows[each.name].combine_chunks()
        values = column.drop_null()
        if not len(values):
            continue
        if pa.types.is_string(each.type):
            fitting = [
                text for text in _formats(values[0].as_py()) if not TimesFit(Times((text,)), duck)(values).misfits
            ]
            if fitting:
                found.times[each.name] = fitting[0]
                if len(fitting) > 1:
                    found.notes[f"times.{each.name}"] = f"or {' or '.join(fitting[1:])}?"
        elif pa.types.is_integer(each.type) and _TIME.search(each.name):
            least, most = pc.min(values).as_py(), pc.max(values).as_py()
            for name, (low, high) in _EPOCHS.items():
                if low <= least and most < high:
                    found.epochs[each.name] = name


def _formats(value: str) -> Iterator[str]:
    """The formats in which a text of such a form may be a time."""
    for day in _DATES:
        for clock in _CLOCKS:
            text = day + clock
            form = re.escape(text)
            for directive in set(re.findall(r"%[A-Za-z]", text)):
                digits = {"%Y": r"\d{4}", "%f": r"\d{1,6}", "%p": "[AaPp][Mm]"}.get(directive, r"\d{1,2}")
                form = form.replace(re.escape(directive), digits)
            if re.fullmatch(form, value.strip()):
                yield text


def _ordering(rows: pa.Table, found: Roles) -> str | None:
    """A time or number without nulls whose name says that it is of the last change."""
    fit = [each.name for each in rows.schema if _is_ordered(each.type) or each.name in found.times]
    found.moments = [
        name
        for name in fit
        if "." not in name and (name in found.times or pa.types.is_timestamp(rows.schema.field(name).type))
        if rows.num_rows and not rows[name].null_count
    ]
    named = [name for name in fit if "." not in name and _CHANGED.search(name)]
    full = [name for name in named if rows.num_rows and not rows[name].null_count]
    if len(full) > 1:
        found.notes["ordering"] = f"or {', '.join(full[1:])}?"
    if named and not full:
        found.notes["ordering"] = f"{named[0]} has nulls in the sample: such rows would go to the quarantine"
    return full[0] if full else None


def _find_key(rows: pa.Table, found: Roles) -> None:
    names = [each.name for each in rows.schema if "." not in each.name and _may_be_key(each.type)]
    full = [name for name in names if not rows[name].null_count and not _has_empty(rows[name])]
    ranked = sorted(full, key=lambda name: (not _BEST_KEY.search(name), not _KEY.search(name), name in found.times))
    for name in ranked:
        if _unique(rows, (name,)):
            _suggest(rows, (name,), found)
            return
    if found.ordering is not None:
        for name in ranked:
            if _KEY.search(name) and _unique(rows, (name, found.ordering)):
                found.record_key = (name,)
                found.notes["record_key"] = (
                    f"occurs several times, each with another {found.ordering}: the newest row is kept"
                )
                return
    for pair in combinations(ranked[:_PLACES], 2):
        if _unique(rows, pair):
            _suggest(rows, pair, found)
            return
    found.record_key = tuple(ranked[:1] or rows.schema.names[:1])
    found.notes["record_key"] = (
        "no column and no two together are unique and without nulls: of rows with the same key one stays"
    )


def _suggest(rows: pa.Table, names: tuple[str, ...], found: Roles) -> None:
    found.record_key = names
    if rows.num_rows < 2 or not all(_KEY.search(name) for name in names):
        found.notes["record_key"] = "unique in the sample, by chance?"


def _find_partition(rows: pa.Table, found: Roles) -> None:
    """Find the partition: a column of dates, each of which has many rows."""
    for each in rows.schema:
        column = rows[each.name]
        if "." in each.name or each.name in found.record_key or each.name == found.ordering or column.null_count:
            continue
        few = (
            rows.num_rows and pc.count_distinct(column).as_py() * 10 <= rows.num_rows
            if _has_order(each.type)
            else False
        )
        if few and pa.types.is_date(each.type):
            found.partition = each.name
            return
        if few and pa.types.is_string(each.type) and pc.count_distinct(column).as_py() <= _SOME:
            found.notes.setdefault("partition", each.name)


def _has_empty(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) and bool(pc.any(pc.equal(column, "")).as_py())


def _unique(rows: pa.Table, names: Sequence[str]) -> bool:
    return bool(rows.select(list(names)).group_by(list(names)).aggregate([]).num_rows == rows.num_rows)


def _may_be_key(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind))


def _is_ordered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind))


def _has_order(kind: pa.DataType) -> bool:
    return _is_ordered(kind) or bool(pa.types.is_string(kind))

"""The record key that a sample suggests: columns that are unique and without nulls, identical rows counted once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa
import pyarrow.compute as pc

_KEY = re.compile(
    r"(^|_| |-)(?i:id|uuid|guid|key|no|nr|num|number|code)$|[a-z0-9](Id|ID|Uuid|UUID|Guid|Key|No|Nr|Number|Code)$"
)
_BEST_KEY = re.compile(r"^(id|uuid|guid|key|pk)$", re.IGNORECASE)
_VERSION = re.compile(r"updated|modified|changed|last_?change|version|revision", re.IGNORECASE)
_MEASURE = re.compile(
    r"(^|_| |-)(?i:at|on|ts|time|timestamp|date|day|epoch|amount|price|cost|fee|fare|total|sum|count|quantity|qty|value|size|"
    r"length|weight|duration|score|rate|version|revision)$|[a-z0-9](At|Time|Timestamp|Date|Amount|Price|Total|Count)$"
)
_PLACES = 8  # columns that are tried together as a key
_TOGETHER = (2, 3)
_NONE = (
    "no column, and no two or three together, are unique and without nulls; a key of others would lose rows. Name the columns "
    "that identify a row, or deliver one that does"
)


@dataclass(frozen=True)
class KeyChoice:
    """The columns of the key, none if no columns identify a row, and why to doubt them."""

    columns: tuple[str, ...] = ()
    note: str | None = None


def choose_key(rows: pa.Table, distinct: int, ordering: str | None) -> KeyChoice:
    """The key of a table of these rows, of which `distinct` differ. `ordering` is the column of the last change.

    Rows of one key are versions of a record only where the name of the ordering column says so, as in `updated_at`. Rows that
    differ in another time, such as `ts`, are events, and all of them stay. A time of the last change is in no key.
    """
    version = ordering if ordering is not None and _VERSION.search(ordering) else None
    every = [name for name in _ranked(rows, refused=True) if name != version]
    ranked = [name for name in every if _may_be_key(rows.schema.field(name).type)]
    named = [name for name in every if _KEY.search(name)]
    unique = [name for name in every if _groups(rows, (name,)) == distinct]
    unfit = next((name for name in unique if name in named), None)
    # A time or measure that is unique in a sample of several devices is so by chance.
    likely = (name for name in unique if name in ranked and not (named and _is_measure(rows, name)))
    alone = next((name for name in unique if name in named and name in ranked), None)
    if alone is None and unfit is not None:
        return KeyChoice((), _unfit(rows, (unfit,)))
    alone = alone if alone is not None else next(likely, None)
    if alone is not None:
        return KeyChoice((alone,), None if distinct > 1 and _KEY.search(alone) else "unique in the sample, by chance")
    if version is not None:
        for name in (name for name in named if name in ranked):
            if _groups(rows, (name, version)) == distinct:
                why = f"occurs several times, each with another {version}: the newest row is kept"
                return KeyChoice((name,), why)
    together = _unique_together(rows, distinct, ranked)
    if together is not None:
        return KeyChoice(together, _doubt(together, ordering))
    others = _unique_together(rows, distinct, every, at_least=1)
    return KeyChoice((), _NONE if others is None else _unfit(rows, others))


def unique_columns(rows: pa.Table) -> tuple[str, ...]:
    """The columns without nulls that no two of the rows share, the best key first."""
    ranked = _ranked(rows, refused=False)
    return tuple(name for name in ranked if _groups(rows, (name,)) == rows.num_rows)


def moves(rows: pa.Table, key: Sequence[str], partition: str) -> bool:
    """True if rows of one key have several values of the partition column."""
    return _groups(rows, key) < _groups(rows, (*key, partition))


def _doubt(names: Sequence[str], ordering: str | None) -> str | None:
    events = [name for name in names if _KEY.search(name)]
    if ordering in names and events:
        return f"each {ordering} is a row of its own; [{', '.join(events)}] alone keeps only the newest row of each"
    return None if len(events) == len(names) else "unique in the sample, by chance"


def _unfit(rows: pa.Table, names: Sequence[str]) -> str:
    """Why columns that are unique are no key."""
    refused = next(name for name in names if not _may_be_key(rows.schema.field(name).type))
    kind = "a time with a zone" if _is_time(rows, refused) else "a number with a fraction"
    return f"{', '.join(names)} would be unique, but {refused} is {kind}, which makes no safe key: load it as string"


def _candidates(rows: pa.Table, *, refused: bool) -> Iterator[str]:
    """Columns without nulls and empty texts. With `refused` also those of types that make no key, or no safe one."""
    for field in rows.schema:
        fits = _may_be_key(field.type) or (refused and _is_refused(field.type))
        if fits and "." not in field.name and not rows[field.name].null_count and not _has_empty(rows[field.name]):
            yield field.name


def _ranked(rows: pa.Table, *, refused: bool) -> list[str]:
    """The candidates, the best key first: by their names, times and measures last, then in their order in the files."""

    def rank(name: str) -> tuple[bool, bool, bool]:
        return not _BEST_KEY.search(name), not _KEY.search(name), _is_measure(rows, name)

    return sorted(_candidates(rows, refused=refused), key=rank)


def _is_measure(rows: pa.Table, name: str) -> bool:
    """True for a time or measure, by its type or its name."""
    return pa.types.is_temporal(rows.schema.field(name).type) or bool(_MEASURE.search(name))


def _is_time(rows: pa.Table, name: str) -> bool:
    return bool(pa.types.is_timestamp(rows.schema.field(name).type))


def _unique_together(
    rows: pa.Table, distinct: int, ranked: Sequence[str], at_least: int = _TOGETHER[0]
) -> tuple[str, ...] | None:
    """Few of the columns that are unique together: those whose names say so, then times, before others."""
    times = [name for name in ranked if pa.types.is_temporal(rows.schema.field(name).type)]
    tried = list(dict.fromkeys((*ranked[: _PLACES - 2], *times[:2], *ranked)))[:_PLACES]
    weights = {name: _weight(rows, name) for name in tried}
    for count in range(at_least, _TOGETHER[-1] + 1):
        for names in sorted(combinations(tried, count), key=lambda names: sum(weights[name] for name in names)):
            if _groups(rows, names) == distinct:
                return tuple(name for name in ranked if name in names)
    return None


def _weight(rows: pa.Table, name: str) -> int:
    kind = rows.schema.field(name).type
    return 0 if _KEY.search(name) else 1 if pa.types.is_temporal(kind) else 3


def _groups(rows: pa.Table, names: Iterable[str]) -> int:
    columns = list(dict.fromkeys(names))
    return int(rows.select(columns).group_by(columns).aggregate([]).num_rows)


def _has_empty(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) and bool(pc.any(pc.equal(column, "")).as_py())


def _may_be_key(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is None
    if pa.types.is_decimal(kind):
        return bool(kind.scale == 0)  # whole numbers of more than 64 bits
    return bool(pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind))


def _is_refused(kind: pa.DataType) -> bool:
    """Types whose text in a key differs between Hudi's operations (times with a zone), or between releases of Java."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))

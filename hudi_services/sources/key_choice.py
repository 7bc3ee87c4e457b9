"""The record key that a sample suggests: columns, or fields of structs, that are unique and without nulls. Identical rows count
once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.display import counted
from hoodie.schema import values_of

_KEY = re.compile(
    r"(^|_| |-)(?i:id|uuid|guid|key|no|nr|num|number|code)$|[a-z0-9](Id|ID|Uuid|UUID|Guid|Key|No|Nr|Number|Code)$"
    r"|(?i:nummer|kennung)$|[a-z]nr$"
)
_POSITION = re.compile(
    r"(^|_| |-)(?i:line|seq|sequence|pos|position|item|row|index|idx|part)$|[a-z0-9](Line|Seq|Sequence|Position|Index)$"
)
_BEST_KEY = re.compile(r"^(id|uuid|guid|key|pk)$", re.IGNORECASE)
_VERSION = re.compile(r"updated|modified|changed|last_?change|version|revision", re.IGNORECASE)
_TIME = re.compile(
    r"(^|_| |-)(?i:at|on|ts|time|timestamp|date|day|epoch|version|revision|datum|zeit)$|[a-z0-9](At|Time|Timestamp|Date)$"
)
_AMOUNT = re.compile(
    r"(^|_| |-)(?i:amount|price|cost|costs|fee|fare|tax|discount|balance|revenue|salary|total|sum|count|quantity|qty|value|size|"
    r"length|weight|duration|score|rate|ratio|percent|pct|reading|temperature|humidity|pressure|voltage|speed)$|"
    r"[a-z0-9](Amount|Price|Total|Count|Value)$|(?i:betrag|preis|summe|menge|anzahl|kosten|umsatz)$"
)
_PLACES = 8  # columns that are tried together as a key
_TOGETHER = (2, 3)
_NEAR = 0.9  # share of rows whose key no other row has, where it nearly fits
_CHANCE = 0.5  # times for each different row, above which a key with the time is unique by chance
_AT_MOST = 4  # columns whose names or types all say that they identify a row
_ENOUGH = 20  # different rows: in fewer, columns without such a name are unique by chance
_NONE = (
    "no column, and no two to four together, are unique and without nulls in {rows}; a key of others would lose rows. Name the "
    "columns that identify a row, or deliver one that does"
)


@dataclass(frozen=True)
class KeyChoice:
    """The columns of the key, none if no columns identify a row, and what to know of them. `is_sure`: the names of all say
    that they identify a row."""

    columns: tuple[str, ...] = ()
    note: str | None = None
    is_sure: bool = False


def choose_key(rows: pa.Table, distinct: int, ordering: str | None) -> KeyChoice:
    """The key of a table of these rows, of which `distinct` differ. `ordering` is the column of the last change.

    Rows of one key are versions of a record only where the name of the ordering column says so, as in `updated_at`. Rows that
    differ in another time, such as `ts`, are events, and all of them stay. A time of the last change is in no key.
    """
    rows = _with_fields(rows)
    version = ordering if ordering is not None and _VERSION.search(ordering) else None
    every = [name for name in _ranked(rows, refused=True) if name != version]
    ranked = [name for name in every if _may_be_key(rows.schema.field(name).type)]
    named = [name for name in every if _is_named(name)]
    near = _near(rows, distinct, [name for name in named if name in ranked])
    unique = [name for name in every if _groups(rows, (name,)) == distinct]
    unfit = next((name for name in unique if name in named), None)
    # A time or an amount identifies no row: in tomorrow's file two tills sell in one second.
    ranked = [name for name in ranked if not _is_amount(rows, name)]
    likely = [name for name in unique if name in ranked and not _is_measure(rows, name)]
    times = [name for name in every if _is_time_by_chance(rows, name, distinct)]
    alone = next((name for name in unique if name in named and name in ranked), None)
    if alone is not None:
        return _chosen((alone,), distinct, ordering)
    if unfit is not None:
        return KeyChoice((), _unfit(rows, (unfit,)))
    if likely and distinct >= _ENOUGH:
        return _chosen((likely[0],), distinct, ordering, near)
    if version is not None:
        for name in (name for name in named if name in ranked):
            if _groups(rows, (name, version)) == distinct:
                why = f"occurs several times, each with another {version}: the newest row is kept"
                return KeyChoice((name,), why)
    # With a time that is nearly unique, most columns are unique, too: only one whose name says so makes a key of them.
    is_event = any(name in ranked for name in named)
    together = _unique_together(rows, distinct, [name for name in ranked if is_event or name not in times])
    if together is not None and (distinct >= _ENOUGH or all(_identifies(rows, name) for name in together)):
        return _chosen(together, distinct, ordering, near)
    if likely or together is not None:
        return KeyChoice((), _too_few(likely[:1] or together or (), distinct))
    if times and not is_event:
        return KeyChoice((), _time_alone(rows, times[0], distinct, near))
    others = _unique_together(rows, distinct, [name for name in every if not _is_amount(rows, name)], 2 if times else 1)
    if others is not None:
        return KeyChoice((), _unfit(rows, others))
    amounts = [name for name in unique if _is_amount(rows, name)]
    chance = f"{amounts[0]} is unique by chance, as an amount identifies no row" if amounts else None
    return KeyChoice((), "; ".join(filter(None, (near, chance, _NONE.format(rows=_looked_at(distinct))))))


def unique_columns(rows: pa.Table) -> tuple[str, ...]:
    """The columns without nulls that no two of the rows share, the best key first."""
    ranked = _ranked(rows, refused=False)
    return tuple(name for name in ranked if _groups(rows, (name,)) == rows.num_rows)


def moves(rows: pa.Table, key: Sequence[str], partition: str) -> bool:
    """True if rows of one key have several values of the partition column."""
    return _groups(rows, key) < _groups(rows, (*key, partition))


def _near(rows: pa.Table, distinct: int, named: Sequence[str]) -> str | None:
    """The column whose name says that it is the key, if nearly all rows have a value of their own, and how many have not."""
    groups = {name: _groups(rows, (name,)) for name in named}
    best = max(groups, key=lambda name: groups[name], default=None)
    if best is None or not _NEAR * distinct <= groups[best] < distinct:
        return None
    return (
        f"{best} nearly fits: {distinct - groups[best]:,} of {counted(distinct, 'row')} share the {best} of another row"
    )


def _chosen(names: tuple[str, ...], distinct: int, ordering: str | None, near: str | None = None) -> KeyChoice:
    """A key of columns that are unique, with what to know of it: nothing of one column whose name says that it is the key."""
    events = [name for name in names if _is_named(name)]
    unique = f"unique in {_looked_at(distinct)}"
    if ordering in names and events and len(names) > 1:
        note = f"each {ordering} is a row of its own; [{', '.join(events)}] alone keeps only the newest row of each"
        return KeyChoice(names, note)
    if distinct < 2 or not all(_is_named(name) or _POSITION.search(_last(name)) for name in names):
        return KeyChoice(names, f"{unique}, by chance; {near}" if near else f"{unique}, by chance")
    is_sure = events == list(names) and not any("." in name for name in names)
    return KeyChoice(names, None if is_sure and len(names) == 1 else unique, is_sure and len(names) < _AT_MOST)


def _time_alone(rows: pa.Table, time: str, distinct: int, near: str | None) -> str:
    """Why a time that is unique, or nearly, is no key, and the columns that may be one with it: all but amounts."""
    others = [name for name in rows.schema.names if name != time and _may_be_key(rows.schema.field(name).type)]
    with_it = [time, *(name for name in others if not _is_amount(rows, name))][:_AT_MOST]
    such = f", such as [{', '.join(with_it)}]" if len(with_it) > 1 else ""
    why = f"{time} has {counted(_groups(rows, (time,)), 'value')} in {_looked_at(distinct)}, by chance: it is no key"
    return "; ".join(filter(None, (near, f"{why}. Name the columns that identify a row{such}")))


def _looked_at(distinct: int) -> str:
    return f"the {counted(distinct, 'different row')} that {'was' if distinct == 1 else 'were'} looked at"


def _too_few(names: Sequence[str], distinct: int) -> str:
    return (
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are together'} unique in {_looked_at(distinct)}, which are too few "
        "to say more. Name the columns that identify a row"
    )


def _unfit(rows: pa.Table, names: Sequence[str]) -> str:
    """Why columns that are unique are no key."""
    refused = next(name for name in names if not _may_be_key(rows.schema.field(name).type))
    kind = "a time with a zone" if _is_time(rows, refused) else "a number with a fraction"
    return f"{', '.join(names)} would be unique, but {refused} is {kind}, which makes no safe key: load it as string"


def _candidates(rows: pa.Table, *, refused: bool) -> Iterator[str]:
    """Columns without nulls and empty texts. With `refused` also those of types that make no key, or no safe one."""
    for field in rows.schema:
        fits = _may_be_key(field.type) or (refused and _is_refused(field.type))
        if fits and not rows[field.name].null_count and not _has_empty(rows[field.name]):
            yield field.name


def _ranked(rows: pa.Table, *, refused: bool) -> list[str]:
    """The candidates, the best key first: by their names, times and measures last, then in their order in the files."""

    def rank(name: str) -> tuple[bool, bool, bool, bool]:
        return not _BEST_KEY.search(name), not _is_named(name), _is_measure(rows, name), "." in name

    return sorted(_candidates(rows, refused=refused), key=rank)


def _is_measure(rows: pa.Table, name: str) -> bool:
    """True for a time or an amount, by its type or its name."""
    return (
        pa.types.is_temporal(rows.schema.field(name).type) or bool(_TIME.search(_last(name))) or _is_amount(rows, name)
    )


def _is_amount(rows: pa.Table, name: str) -> bool:
    """True for money and other measures, by the name, or as a number with a fraction whose name says nothing else."""
    kind = rows.schema.field(name).type
    has_fraction = pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale != 0)
    return bool(_AMOUNT.search(_last(name))) or (has_fraction and not _is_named(name))


def _is_time_by_chance(rows: pa.Table, name: str, distinct: int) -> bool:
    """True for a time that most rows have for themselves, and whose name does not say that it is a key."""
    is_time = _is_measure(rows, name) and not _is_amount(rows, name) and not _is_named(name)
    return is_time and _groups(rows, (name,)) > _CHANCE * distinct


def _is_time(rows: pa.Table, name: str) -> bool:
    return bool(pa.types.is_timestamp(rows.schema.field(name).type))


def _unique_together(
    rows: pa.Table, distinct: int, ranked: Sequence[str], at_least: int = _TOGETHER[0]
) -> tuple[str, ...] | None:
    """Few of the columns that are unique together: those whose names say so, then times, before others."""
    times = [name for name in ranked if pa.types.is_temporal(rows.schema.field(name).type)]
    positions = [name for name in ranked if _POSITION.search(_last(name))]
    first = (*ranked[: _PLACES - 4], *positions[:2], *times[:2], *ranked)
    tried = list(dict.fromkeys(first))[:_PLACES]
    weights = {name: _weight(rows, name) for name in tried}
    for count in range(at_least, _AT_MOST + 1):
        fit = tried if count <= _TOGETHER[-1] else [name for name in tried if _identifies(rows, name)]
        for names in sorted(combinations(fit, count), key=lambda names: sum(weights[name] for name in names)):
            if _groups(rows, names) == distinct:
                return tuple(name for name in ranked if name in names)
    return None


def _weight(rows: pa.Table, name: str) -> int:
    if _is_named(name) or _POSITION.search(_last(name)):
        return 1 if "." in name else 0
    return 2 if pa.types.is_temporal(rows.schema.field(name).type) else 6


def _identifies(rows: pa.Table, name: str) -> bool:
    """True if the name or the type of a column says that it distinguishes rows."""
    return _weight(rows, name) <= 2


def _is_named(name: str) -> bool:
    return bool(_KEY.search(_last(name)))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _with_fields(rows: pa.Table) -> pa.Table:
    """The columns, and behind them the fields of structs by their dotted names. Names with dots of their own are left out, and so
    are times of the last change in structs."""
    flat = rows.select([name for name in rows.schema.names if "." not in name])
    fields = [
        name
        for field in flat.schema
        for name in _leaves(field.name, field.type)
        if "." in name and not _VERSION.search(_last(name))
    ]
    for name in fields:
        flat = flat.append_column(name, values_of(rows, name))
    return flat


def _leaves(name: str, kind: pa.DataType) -> Iterator[str]:
    if not pa.types.is_struct(kind):
        yield name
        return
    for field in kind:
        if "." not in field.name:
            yield from _leaves(f"{name}.{field.name}", field.type)


def _groups(rows: pa.Table, names: Iterable[str]) -> int:
    columns = {name: rows[name] if name in rows.schema.names else values_of(rows, name) for name in names}
    return int(pa.table(columns).group_by(list(columns)).aggregate([]).num_rows)


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

"""The changes of a table between two instants: by the counts of the commits between them, and row by row on request."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.display import counted
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, TimeTravelError, UnsupportedTableError
from hoodie.model.commit import CommitMetadata
from hoodie.model.files import GroupId
from hoodie.model.meta_columns import COMMIT_TIME, META_COLUMNS, RECORD_KEY
from hoodie.model.time import Time
from hoodie.read.execute import execute_read
from hoodie.read.plan import plan_read
from hoodie.read.query import Query, Snapshot
from hoodie.read.times import moment_as_time, resolve_as_of
from hoodie.timeline import WRITE_ACTIONS, Instant
from hudi_services.operations.inspect.excluded_columns import kept_columns
from hudi_services.operations.inspect.history import COMMITS, commit_row, read_once
from hudi_services.operations.inspect.page import Column, Facts, Lines, Listing, Page, Part
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, partition, size
from hudi_services.runtime.json_values import json_row_values

_PARTITIONS = (
    Column("partition", "partition", partition),
    Column("file_groups", "file groups", count, right=True),
    Column("file_groups_replaced", "replaced", count, right=True),
    Column("rows_inserted", "inserted", count, right=True),
    Column("rows_updated", "updated", count, right=True),
    Column("rows_deleted", "deleted", count, right=True),
    Column("bytes_written", "size", size, right=True),
)
Row = Mapping[str, Any]
_SIGNS = {"inserted": "+", "updated": "~", "deleted": "-"}


def difference(look: Look, first: str, last: str | None, rows: int | None, without: Sequence[str] = ()) -> Page:
    """The changes from the table as of `first` to the table as of `last`, or now: what time travel shows at each.

    The counts are those of the commits: a row that two of them wrote counts twice, and compactions and clusterings,
    which move rows only, do not count. `rows` is the most rows that are shown, found by reading keys and commit times
    of the changed file groups, a partition at a time, `without` some of their columns; of an updated row `differs`
    names the columns that do. The key of a row is None where a column that it is made of is left out. Raises
    TimeTravelError for what is no instant, ConfigError for two in the wrong order and where no column is left,
    UnsupportedTableError for rows of a table with virtual keys.
    """
    begin = moment_as_time(look.state, first)
    end = moment_as_time(look.state, last) if last is not None else None
    if end is not None and end < begin:
        raise ConfigError(f"{last} lies before {first}", fix="give the earlier instant first")
    between = _commits(look, begin, end)
    lines = [commit_row(look, instant) for instant in reversed(between)]
    changed = [(instant, read_once(look, instant)) for instant in between]
    partitions = _partitions(metadata for _, metadata in changed)
    counting = f"{counted(len(between), 'commit')} {'counts' if len(between) == 1 else 'count'} them"
    values: dict[str, Any] = {
        "table": look.state.properties.name,
        "after": str(begin),
        "until": str(end) if end is not None else None,
        **{name: sum(row[name] for row in partitions) for name in _SUMS},
        "commits": lines,
        "partitions": partitions,
    }
    parts: list[Part] = [
        Facts(
            [
                ("after", str(begin)),
                ("until", str(end) if end is not None else "now"),
                (
                    "rows",
                    f"+{count(values['rows_inserted'])} ~{count(values['rows_updated'])} "
                    f"-{count(values['rows_deleted'])}, as {counting}",
                ),
                (
                    "file groups",
                    f"{count(values['file_groups'])} written, {count(values['file_groups_replaced'])} replaced",
                ),
            ]
        ),
        Listing(COMMITS, lines, "commits", "none"),
        Listing(_PARTITIONS, partitions, "partitions", "none"),
    ]
    if rows is not None:
        differing = list(_rows(look, begin, end, changed, rows, without))
        values["rows"] = [{**row, "before": _json(row["before"]), "after": _json(row["after"])} for row in differing]
        parts.append(Lines([_line(row) for row in differing] or ["none"], f"rows, at most {count(rows)}"))
    return Page(values, parts)


_SUMS = ("file_groups", "file_groups_replaced", "rows_inserted", "rows_updated", "rows_deleted", "bytes_written")


def _commits(look: Look, begin: Time, end: Time | None) -> list[Instant]:
    """The completed write instants after `begin` and not after `end`, archived ones too."""
    commits = list(look.state.timeline.commits)
    if not look.state.timeline.covers(begin):
        active = {instant.key for instant in commits}
        archived = (i for i in look.state.archive.instants(after=begin, until=end) if i.action in WRITE_ACTIONS)
        commits = [*(i for i in archived if i.key not in active), *commits]
    return [i for i in commits if i.time > begin and (end is None or i.time <= end)]


def _partitions(changed: Iterable[CommitMetadata]) -> list[dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    groups: dict[str, set[str]] = {}
    for metadata in changed:
        moves = metadata.moves_rows
        for name in metadata.partitions:
            row = result.setdefault(name, {"partition": name, **dict.fromkeys(_SUMS, 0)})
            row["file_groups_replaced"] += len(metadata.replaced.get(name, ()))
        for stat in metadata.stats:
            row = result[stat.partition]
            groups.setdefault(stat.partition, set()).add(stat.file_id)
            row["bytes_written"] += stat.file_size
            if not moves:
                row["rows_inserted"] += stat.num_inserts
                row["rows_updated"] += stat.num_updates
                row["rows_deleted"] += stat.num_deletes
    for name, row in result.items():
        row["file_groups"] = len(groups.get(name, ()))
    return [result[name] for name in sorted(result)]


def _rows(
    look: Look,
    begin: Time,
    end: Time | None,
    changed: Sequence[tuple[Instant, CommitMetadata]],
    most: int,
    without: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """The rows that differ, partition by partition."""
    if look.state.properties.virtual_keys:
        raise UnsupportedTableError(
            f"Rows of table {look.state.properties.name} cannot be compared",
            found="virtual keys: rows say neither their key nor their commit",
            fix="leave --rows out",
        )
    groups: dict[str, set[GroupId]] = {}
    for _, metadata in changed:
        for group in (*(stat.group for stat in metadata.stats), *metadata.replaced_groups):
            groups.setdefault(group.partition, set()).add(group)
    was_there, before_at, after_at = _was_there(look, begin), str(begin), str(end) if end is not None else None
    old_columns = _columns(look, without, begin) if was_there else None
    new_columns = _columns(look, without, end)
    says_key = not without or _free_of(look, without, *([begin] if was_there else []), end)
    for name in sorted(groups):
        before = _read(look, before_at, name, groups[name], (RECORD_KEY, COMMIT_TIME)) if was_there else None
        after = _read(look, after_at, name, groups[name], (RECORD_KEY, COMMIT_TIME))
        for keys in _changed_keys(before if before is not None else after.slice(0, 0), after, most):
            old = _by_key(look, before_at, name, groups[name], old_columns, keys) if before is not None else {}
            new = _by_key(look, after_at, name, groups[name], new_columns, keys)
            for key in keys.to_pylist():
                for one, other in islice(_paired(old.get(key, []), new.get(key, [])), most):
                    most -= 1
                    key_text = key if says_key else None
                    yield {"partition": name, "key": key_text, "before": one, "after": other, **_change(one, other)}


def _free_of(look: Look, without: Sequence[str], *moments: Time | None) -> bool:
    """Return true if the keys are known to be made without these columns."""
    fields = {field.partition(".")[0] for field in look.state.properties.record_key_fields}
    hidden = {name for at in moments for name in kept_columns(look.state, without, at).hidden}
    unwanted = {name.partition(".")[0].lower() for name in without}
    return bool(fields) and not fields & hidden and not {field.lower() for field in fields} & unwanted


def _change(before: Row | None, after: Row | None) -> dict[str, Any]:
    if before is None or after is None:
        return {"change": "inserted" if before is None else "deleted", "differs": []}
    return {"change": "updated", "differs": _differing(before, after)}


def _paired(before: Sequence[Row], after: Sequence[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """The rows of one key, each with what became of it: one pair, or several where several rows have the key. In that
    case the rows that are as before are left out, unless all are."""
    if len(before) < 2 and len(after) < 2:
        yield from zip_longest(before, after)
        return
    came, went = Counter(map(_text, after)), Counter(map(_text, before))
    pairs = list(zip_longest(_beyond(before, came), _beyond(after, went)))
    yield from pairs or zip_longest(before, after)


def _beyond(rows: Sequence[Row], others: Counter[str]) -> list[Row]:
    """The rows in excess of the `others`: of equal rows as many as there are more of here."""
    remaining, result = others.copy(), []
    for row in rows:
        if remaining[_text(row)]:
            remaining[_text(row)] -= 1
        else:
            result.append(row)
    return result


def _text(row: Row) -> str:
    return json.dumps(row, default=str)


def _columns(look: Look, without: Sequence[str], at: Time | None) -> Sequence[str] | None:
    columns = kept_columns(look.state, without, at).columns
    return None if columns is None else (RECORD_KEY, *columns)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The columns whose values are not the same; NaN is NaN, and one that is not there is null."""
    return [
        name
        for name in {**after, **before}
        if before.get(name) != after.get(name) and _json({"": before.get(name)}) != _json({"": after.get(name)})
    ]


def _was_there(look: Look, begin: Time) -> bool:
    """Return true if the table had a commit at that time, archived or not."""
    try:
        resolve_as_of(look.state, begin)
    except TimeTravelError:
        return False
    return True


def _changed_keys(before: pa.Table, after: pa.Table, most: int) -> Iterator[pa.Array]:
    """The keys that came, those that other commits wrote, and those that went: `most` of them in all, in equal shares
    where each kind has enough."""
    rows_before, rows_after = before.num_rows, after.num_rows
    both = pa.concat_tables([before, after]).append_column(
        "sum", pa.array([1] * rows_before + [-1] * rows_after, pa.int64())
    )
    # Several rows may have the same key: the number of its rows by each commit is all that matters.
    sums = both.group_by([RECORD_KEY, COMMIT_TIME], use_threads=False).aggregate([("sum", "sum")])
    keys = sums.filter(pc.not_equal(sums["sum_sum"], 0))[RECORD_KEY].unique()
    old, new = (pc.is_in(keys, value_set=side[RECORD_KEY].combine_chunks()) for side in (before, after))
    kinds = [keys.filter(chosen) for chosen in (pc.invert(old), pc.and_(old, new), pc.invert(new))]
    for rows, share in zip(kinds, _shares([len(rows) for rows in kinds], most), strict=True):
        if share:
            yield rows.slice(0, share)


def _shares(counts: Sequence[int], most: int) -> list[int]:
    """The number of keys to take of each kind: together `most`, if there are as many. The shares of two kinds differ by
    at most one, unless a kind has no more keys."""
    shares = [0] * len(counts)
    for served, place in enumerate(sorted(range(len(counts)), key=lambda number: counts[number])):
        shares[place] = min(counts[place], -(-(most - sum(shares)) // (len(counts) - served)))
    return shares


def _read(
    look: Look,
    as_of: str | None,
    name: str,
    groups: Collection[GroupId],
    columns: Sequence[str] | None,
    filter: pc.Expression | None = None,
) -> pa.Table:
    query = Query(columns, filter, Snapshot(as_of), partitions=(name,), meta_columns=True)
    plan = plan_read(look.state, query)
    slices = tuple(file_slice for file_slice in plan.slices if file_slice.group in groups)
    return execute_read(replace(plan, slices=slices), look.storage, LocalEngine())


def _by_key(
    look: Look,
    as_of: str | None,
    name: str,
    groups: Collection[GroupId],
    columns: Sequence[str] | None,
    keys: pa.Array,
) -> dict[str, list[Row]]:
    """The data columns of some rows, by key."""
    condition = pc.field(RECORD_KEY).isin(keys)
    selected = _read(look, as_of, name, groups, columns, condition)
    rows: Sequence[Mapping[str, Any]]
    try:
        rows = selected.to_pylist()
    except (OverflowError, ValueError):  # what Python cannot hold, such as a time of the year 10000
        rows = json_row_values(selected)
    by_key: dict[str, list[Row]] = {}
    for row in rows:
        data = {name: value for name, value in row.items() if name not in META_COLUMNS}
        by_key.setdefault(str(row[RECORD_KEY]), []).append(data)
    return by_key


def _line(change: Mapping[str, Any]) -> str:
    before, after = change["before"] or {}, change["after"] or {}
    if change["change"] == "updated":
        values_text = ", ".join(
            f"{name}: {_value_text(before.get(name))} -> {_value_text(after.get(name))}" for name in change["differs"]
        )
    else:
        values_text = ", ".join(f"{name}: {_value_text(value)}" for name, value in (after or before).items())
    place = "".join(f"{part}  " for part in (change["partition"], change["key"]) if part)
    return f"{_SIGNS[change['change']]} {place}{values_text or 'the same values, written again'}"


def _value_text(value: Any) -> str:
    return repr(value) if isinstance(value, str | bytes) else "null" if value is None else str(value)


def _json(row: Mapping[str, Any] | None) -> Any:
    """The row as JSON: dates, decimals and the like are text, and so are the floats that JSON does not have."""
    return None if row is None else json.loads(json.dumps(row, default=str), parse_constant=str)

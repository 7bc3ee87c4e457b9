"""Partial updates: merging whole tables of rows gives what applying them one by one would (format notes, section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hoodie.merge import BaseMerger, MergeRules, PartialRows, PartialUpdate, combined_batch, newest_per_key
from hoodie.model.internal_columns import DELETE, LACKS, RESET, SEQUENCE
from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME, PARTITION_PATH, RECORD_KEY
from tests.support.examples import examples

MARKER = "?"


@dataclass(frozen=True)
class Row:
    """A row of a log or of a base file: `delete` None is a deletion without ordering value, which nothing outlasts."""

    key: str
    ts: int | None
    low: int | None
    a: str | None
    b: str | None
    delete: bool | None = False


KEYS = st.sampled_from("ab")  # ordering values are never null here: no writer lets them be
TEXT = st.sampled_from([None, MARKER, "x", "y", "z"])
WITH_ORDERING = st.builds(
    Row, KEYS, st.integers(1, 3), st.sampled_from([1, 2]), TEXT, TEXT, st.sampled_from([False] * 4 + [True])
)
ROWS = st.one_of(WITH_ORDERING, st.builds(Row, KEYS, st.none(), st.none(), st.none(), st.none(), st.none()))
STORED = st.dictionaries(KEYS, st.tuples(st.integers(1, 3), st.sampled_from([1, 2]), TEXT, TEXT))


def filled(high: Row, low: Row, partial: PartialUpdate) -> Row:
    """The row that remains of two, when `high` wins."""
    if high.delete is not False or low.delete is not False:
        return high
    for name in ("a", "b") if partial.marker else ("ts", "low", "a", "b"):
        if getattr(high, name) == partial.marker:
            high = replace(high, **{name: getattr(low, name)})
    return high


def order(row: Row, ordering: tuple[str, ...]) -> list[tuple[bool, int]]:
    """Ordering values as something that compares, null lowest."""
    return [(getattr(row, name) is not None, getattr(row, name) or 0) for name in ordering]


def merged(old: Row, new: Row, ordering: tuple[str, ...], partial: PartialUpdate | None, *, in_logs: bool) -> Row:
    wins = new.delete is None or (in_logs and old.delete is None) or order(new, ordering) >= order(old, ordering)
    high, low = (new, old) if wins else (old, new)
    return high if partial is None else filled(high, low, partial)


def applied(stored: list[Row], rows: list[Row], ordering: tuple[str, ...], partial: PartialUpdate) -> list[Row]:
    logs: dict[str, Row] = {}
    between = partial if partial.between_logs else None
    for row in rows:
        known = logs.get(row.key)
        logs[row.key] = row if known is None else merged(known, row, ordering, between, in_logs=True)
    state = {row.key: row for row in stored}
    for key, row in logs.items():
        state[key] = merged(state[key], row, ordering, partial, in_logs=False) if key in state else row
    return [row for row in state.values() if row.delete is False]


def table(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            RECORD_KEY: pa.array([row.key for row in rows], pa.string()),
            PARTITION_PATH: pa.array(["p"] * len(rows), pa.string()),
            "ts": pa.array([row.ts for row in rows], pa.int64()),
            "low": pa.array([row.low for row in rows], pa.int32()),
            "a": pa.array([row.a for row in rows], pa.string()),
            "b": pa.array([row.b and row.b.encode() for row in rows], pa.binary()),
        }
    )


def incoming(rows: list[Row]) -> pa.Table:
    return (
        table(rows)
        .append_column(SEQUENCE, pa.array(range(len(rows)), pa.int64()))
        .append_column(DELETE, pa.array([row.delete is not False for row in rows], pa.bool_()))
        .append_column(RESET, pa.array([row.delete is None for row in rows], pa.bool_()))
    )


def plain(rows: pa.Table) -> set[Row]:
    found = [
        Row(row[RECORD_KEY], row["ts"], row["low"], row["a"], row["b"] and row["b"].decode())
        for row in rows.to_pylist()
    ]
    assert len({row.key for row in found}) == len(found)
    return set(found)


PARTIALS = {
    "IGNORE_DEFAULTS": PartialUpdate(),
    "FILL_UNAVAILABLE": PartialUpdate(MARKER),
    "IGNORE_DEFAULTS of Hudi 0.x: logs whole": PartialUpdate(between_logs=False),
}


@pytest.mark.format("7.2a", "7.2b", "7.2c", "7.2d", "7.2e", "7.2f")
@pytest.mark.parametrize("ordering", [("ts",), ("ts", "low"), ()], ids=["event", "event, two fields", "commit"])
@pytest.mark.parametrize("partial", PARTIALS.values(), ids=PARTIALS)
@settings(deadline=None, max_examples=examples(80))
@example(stored={}, rows=[Row("a", 3, 1, None, "x"), Row("a", 1, 1, "x", None), Row("a", 2, 1, "y", None)], cut=0)
@given(stored=STORED, rows=st.lists(ROWS, max_size=10), cut=st.integers(0, 10))
def test_logs_and_base_as_one_by_one(partial, ordering, stored, rows, cut) -> None:
    """The result is the same when the rows of logs are reduced at once and on the way."""
    base = [Row(key, *values) for key, values in stored.items()]
    first = newest_per_key(incoming(rows).slice(0, cut), ordering, partial)
    logs = newest_per_key(pa.concat_tables([first, incoming(rows).slice(cut)]), ordering, partial)
    merger = BaseMerger(logs, table(base).schema.names, ordering, partial)
    found = plain(pa.concat_tables([merger.merge(table(base)).rows, merger.inserts()]))
    assert found == set(applied(base, rows, ordering, partial))


SOME = st.fixed_dictionaries({"ts": st.integers(1, 3)}, optional={"low": st.sampled_from([1, 2]), "a": TEXT, "b": TEXT})
GIVEN = st.tuples(KEYS, st.one_of(SOME, SOME, SOME, st.integers(1, 3), st.none()))
"""A key, and columns with their values, or a deletion with an ordering value, or one without."""

Given = tuple[str, dict[str, object] | int | None]


def kept_values(stored: dict[str, tuple], rows: list[Given], event_time: bool) -> set[Row]:
    """Dicts updated by dicts: of two rows the one that wins lies over the other."""

    def over(low: dict, high: dict) -> dict:
        return high if "gone" in low or "gone" in high else {**low, **high}

    logs: dict[str, dict[str, object]] = {}
    for key, row in rows:
        new = row if isinstance(row, dict) else {"gone": True, "ts": row}
        old = logs.get(key)
        late = event_time and old is not None and None not in (old["ts"], new["ts"]) and new["ts"] < old["ts"]
        logs[key] = new if old is None else over(new, old) if late else over(old, new)
    state = {key: dict(zip(("ts", "low", "a", "b"), values, strict=True)) for key, values in stored.items()}
    for key, new in logs.items():
        late = event_time and key in state and new["ts"] is not None and new["ts"] < state[key]["ts"]
        if not late:
            state[key] = over(state.get(key, {}), new)
    empty = dict.fromkeys(("ts", "low", "a", "b"))
    return {Row(key, **(empty | row)) for key, row in state.items() if "gone" not in row}


def given_table(rows: list[Given]) -> pa.Table:
    def as_row(key: str, row: dict[str, object] | int | None) -> Row:
        if isinstance(row, dict):
            return Row(key, row["ts"], row.get("low"), row.get("a"), row.get("b"))
        return Row(key, row, None, None, None, None if row is None else True)

    made = incoming([as_row(*row) for row in rows])
    for name in ("low", "a", "b"):
        lacks = [isinstance(row, dict) and name not in row for _, row in rows]
        made = made.append_column(LACKS + name, pa.array(lacks, pa.bool_()))
    return made


@pytest.mark.format("7.2g", "7.2h")
@pytest.mark.parametrize("event_time", [True, False])
@settings(deadline=None, max_examples=examples(300))
@example(stored={}, rows=[("a", {"ts": 3}), ("a", {"ts": 1, "a": None}), ("a", {"ts": 2, "a": "x"})], cut=2)
@given(stored=STORED, rows=st.lists(GIVEN, max_size=10), cut=st.integers(0, 10))
def test_rows_of_some_columns_as_one_by_one(event_time, stored, rows, cut) -> None:
    base = table([Row(key, *values) for key, values in stored.items()])
    ordering, partial = ("ts",) if event_time else (), PartialRows()
    first = newest_per_key(given_table(rows).slice(0, cut), ordering, partial)
    logs = newest_per_key(pa.concat_tables([first, given_table(rows).slice(cut)]), ordering, partial)
    merger = BaseMerger(logs, base.schema.names, ordering, partial)
    found = plain(pa.concat_tables([merger.merge(base).rows, merger.inserts()]))
    assert found == kept_values(stored, rows, event_time)


@pytest.mark.format("7.2a", "7.2b", "7.2c")
@pytest.mark.parametrize("partial", PARTIALS.values(), ids=PARTIALS)
@settings(deadline=None)
@given(rows=st.lists(WITH_ORDERING, max_size=10))
def test_a_batch_as_one_by_one(partial, rows) -> None:
    """Rows of one write are brought to one a key; deletions among them stay, to be applied to what is stored."""
    rules = MergeRules(("ts",), ("ts",), None, partial)
    result = combined_batch(incoming(rows).drop_columns([RESET]), rules)
    lives = result.filter(pa.compute.invert(result[DELETE]))
    assert plain(lives.drop_columns([SEQUENCE, DELETE])) == set(applied([], rows, ("ts",), partial))
    assert result[SEQUENCE].to_pylist() == sorted(result[SEQUENCE].to_pylist())


def test_rows_that_only_fill_count_as_updates() -> None:
    base, late = (
        [Row("a", 5, 1, None, "x"), Row("b", 5, 1, "k", "k")],
        [Row("a", 1, 1, "y", None), Row("b", 1, 1, "n", "n")],
    )
    result = BaseMerger(incoming(late), table(base).schema.names, ("ts",), PartialUpdate()).merge(table(base))
    assert plain(result.rows) == {Row("a", 5, 1, "y", "x"), Row("b", 5, 1, "k", "k")}
    assert result.updated == 1


def test_rows_that_a_write_fills_are_stamped_by_it() -> None:
    """Otherwise an incremental read from before the write would pass over the change."""

    def stamped(rows: pa.Table, time: str) -> pa.Table:
        return rows.append_column(COMMIT_TIME, pa.repeat(time, rows.num_rows)).append_column(
            COMMIT_SEQNO, pa.repeat(time + "_0", rows.num_rows)
        )

    base = stamped(table([Row("a", 5, 1, None, "x"), Row("b", 5, 1, "k", "k")]), "1")
    late = stamped(incoming([Row("a", 1, 1, "y", None), Row("b", 1, 1, "n", "n")]), "2")
    merger = BaseMerger(late, base.schema.names, ("ts",), PartialUpdate(), stamps_filled=True)
    rows = merger.merge(base).rows
    assert rows[COMMIT_TIME].to_pylist() == ["2", "1"]
    assert rows[COMMIT_SEQNO].to_pylist() == ["2_0", "1_0"]

"""Columns of a table are changed by a commit of their own; older files and logs are read by ids."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import LOG_COMPACTION
from hoodie.errors import ArgumentError, SchemaConflictError
from hoodie.schema.changes import (
    FIRST,
    AddColumn,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    WidenColumn,
)
from tests.support.altered_tables import KINDS, ROWS, WITH_LOGS, compact, rows, upsert, values, written
from tests.support.clock import FakeClock
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0][:4]}{kind[1]}")
def table(request, tmp_path):
    return written(tmp_path, *request.param)


def test_what_the_commit_says(table):
    before = len(list(table.timeline.commits))
    done = table.alter([AddColumn("extra", pa.float64(), "new", Place("id"))])
    assert table.schema.names == ["id", "extra", "part", "ts", "value"]
    assert len(list(table.timeline.commits)) == before + 1
    assert (done.metadata.operation, done.files_written) == ("ALTER_SCHEMA", 0)
    (first, last) = table.state().schemas
    assert (first.version, last.version, last.max_id) == (0, int(done.instant.time), first.max_id + 1)
    assert done.metadata.extra["latest_schema"] == last.text()
    assert '"doc":"new"' in done.metadata.extra["schema"].replace(" ", "")
    assert values(table, "extra") == dict.fromkeys("abc")


def test_a_renamed_column_keeps_its_values(table):
    """In files, in logs, in rows that are rewritten, and in the past under its old name."""
    moment = table.timeline.commits[-1].time
    table.alter([RenameColumn("value", "amount"), AddColumn("value", pa.string())])
    assert values(table, "amount") == {"a": 1, "b": 20, "c": 3}
    assert values(table, "value") == dict.fromkeys("abc")
    assert values(table, "value", as_of=moment) == {"a": 1, "b": 20, "c": 3}
    upsert(table, "a", amount=100, value="text")
    for _ in range(2):
        assert values(table, "amount") == {"a": 100, "b": 20, "c": 3}
        assert values(table, "value") == {"a": "text", "b": None, "c": None}
        assert sorted(rows(table, filter=pc.field("amount") > 3)) == ["a", "b"]
        assert sorted(rows(table, filter=pc.field("value").is_null())) == ["b", "c"]
        assert values(table, "value", columns=["id", "value"]) == {"a": "text", "b": None, "c": None}
        compact(table)
    assert set(table.read_incremental(None).column("amount").to_pylist()) == {100, 20, 3}


def test_a_dropped_name_used_again_is_null(table):
    """It is null with the same type, in one commit or two, after a rewrite and in filters."""
    table.alter([DropColumn("value")])
    upsert(table, "a")
    table.alter([AddColumn("value", pa.int64())])
    for _ in range(2):
        assert values(table, "value") == dict.fromkeys("abc")
        assert rows(table, filter=pc.field("value") == 3) == {}
        assert sorted(rows(table, filter=pc.field("value").is_null())) == ["a", "b", "c"]
        upsert(table, "b", value=7)
        assert values(table, "value") == {"a": None, "b": 7, "c": None}
        compact(table)
        table.alter([DropColumn("value"), AddColumn("value", pa.int64())])


def test_columns_that_swap_their_names(table):
    table.alter([AddColumn("other", pa.int64())])
    upsert(table, "a", value=10, other=11)
    table.alter([RenameColumn("value", "x"), RenameColumn("other", "value"), RenameColumn("x", "other")])
    compact(table)
    assert rows(table)["a"] == {"part": "p", "ts": 9, "other": 10, "value": 11}
    assert values(table, "other") == {"a": 10, "b": 20, "c": 3}


def test_nested_columns(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    kind = pa.struct([("x", pa.int32()), ("y", pa.string())])
    schema = pa.schema(
        [("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("s", kind), ("l", pa.list_(kind))]
    )
    one = {"x": 1, "y": "y"}
    for ts, operation in ((1, "insert"), (2, "upsert")):
        rows_ = [{"id": "a", "part": "p", "ts": ts, "s": one, "l": [one, None]}]
        table.write(pa.Table.from_pylist(rows_, schema), operation, SMALL_BLOOM)
    table.alter(
        [
            RenameColumn("s.y", "z"),
            AddColumn("s.y", pa.int32(), place=FIRST),
            WidenColumn("s.x", pa.int64()),
            DropColumn("l.element.x"),
            MoveColumn("l", Place("id")),
        ]
    )
    for _ in range(2):
        assert table.schema.names == ["id", "l", "part", "ts", "s"]
        assert rows(table) == {"a": {"l": [{"y": "y"}, None], "part": "p", "ts": 2, "s": {"y": None, "x": 1, "z": "y"}}}
        compact(table)


WIDENED = [
    (pa.int32(), pa.int64(), [9, 10, -3], [9, 10, -3]),
    (pa.int32(), pa.float64(), [9, 10, -3], [9.0, 10.0, -3.0]),
    (pa.int32(), pa.string(), [9, 10, -3], ["9", "10", "-3"]),
    (pa.int64(), pa.string(), [9, 10, -3], ["9", "10", "-3"]),
    (pa.int32(), pa.decimal128(12, 2), [9, 10, -3], [Decimal("9.00"), Decimal("10.00"), Decimal("-3.00")]),
    (pa.float32(), pa.float64(), [9.1, 10.0, -3.3], [9.1, 10.0, -3.3]),
    (pa.float64(), pa.string(), [9.5, 1e10, -3.0], ["9.5", "1.0E10", "-3.0"]),
    (pa.decimal128(4, 1), pa.decimal128(8, 3), [Decimal("9.1")] * 3, [Decimal("9.100")] * 3),
    (pa.decimal128(4, 1), pa.string(), [Decimal("9.1"), Decimal("10.0"), None], ["9.1", "10.0", None]),
    (pa.date32(), pa.string(), [1, 0, None], ["1970-01-02", "1970-01-01", None]),
]


@pytest.mark.parametrize(("old", "new", "given", "wanted"), WIDENED, ids=lambda each: str(each)[:20])
@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_widened_values_and_filters(tmp_path, kind, old, new, given, wanted):
    """Statistics of row groups are of the old type, whose order may be another: 10 comes before 9 as text."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind})
    data = {"id": ["a", "b", "c"], "part": ["p"] * 3, "ts": [1] * 3, "v": pa.array(given, old)}
    table.write(pa.table(data), "insert", SMALL_BLOOM)
    table.write(pa.table(data).slice(1, 1), "upsert", SMALL_BLOOM)
    table.alter([WidenColumn("v", new)])
    for step in range(2):
        if step:  # the files are written again
            again = {"id": ["b"], "part": ["p"], "ts": [2], "v": pa.array(wanted[1:2], new)}
            table.write(pa.table(again), "upsert", SMALL_BLOOM)
        found = table.read()
        assert found.schema.field("v").type == new
        stored = dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))
        assert stored == dict(zip("abc", wanted, strict=True))
        for key, value in stored.items():
            if value is None:
                continue
            limit = pa.scalar(value, new)
            assert key in rows(table, filter=pc.field("v") == limit)
            assert set(rows(table, filter=pc.field("v") >= limit)) == {
                each for each, other in stored.items() if other is not None and other >= value
            }
        compact(table)


def test_altered_after_columns_that_writes_added(table):
    """Such a table had no ids: its oldest files lack the column."""
    upsert(table, "a", value=10, more="m")
    table.alter([RenameColumn("more", "less")])
    assert values(table, "less") == {"a": "m", "b": None, "c": None}
    upsert(table, "b", value=1, less="l", again=1)
    assert values(table, "less") == {"a": "m", "b": "l", "c": None}
    assert [len(each.columns) for each in table.state().schemas] == [10, 10, 11]


def test_alterations_add_up(table):
    for number in range(4):
        table.alter([AddColumn(f"c{number}", pa.int64()), CommentColumn("value", f"the {number}.")])
        upsert(table, "a", value=1, **{f"c{number}": number})
    versions = table.state().schemas
    assert [each.max_id - versions[0].max_id for each in versions] == [0, 1, 2, 3, 4]
    assert values(table, "c3") == {"a": 3, "b": None, "c": None}
    table.alter([DropColumn(f"c{number}") for number in range(4)])
    assert table.schema.names == ["id", "part", "ts", "value"]
    assert table.state().schemas[-1].docs()["value"] == "the 3."


@pytest.mark.parametrize(
    "change", [DropColumn("id"), DropColumn("part"), RenameColumn("ts", "t"), WidenColumn("ts", pa.float64())]
)
def test_keys_and_order_stay(table, change):
    before = table.storage.list(".hoodie"), table.timeline
    with pytest.raises(SchemaConflictError):
        table.alter([change])
    assert (table.storage.list(".hoodie"), table.timeline) == before


def test_marks_of_deletions_stay(tmp_path):
    """Without it a logged deletion would be a row again."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    marked = batch(ROWS).append_column("_hoodie_is_deleted", pa.array([False] * 3))
    table.write(marked, "insert", SMALL_BLOOM)
    with pytest.raises(SchemaConflictError, match="marks deletions"):
        table.alter([DropColumn("_hoodie_is_deleted")])


def test_what_cannot_be_altered(tmp_path, table):
    with pytest.raises(SchemaConflictError, match="no schema yet"):
        create(tmp_path / "new").alter([DropColumn("x")])
    with pytest.raises(ArgumentError):
        table.alter("drop")


def test_a_warning_for_other_readers(table, caplog):
    table.alter([AddColumn("more", pa.int32())])
    assert "by name" not in caplog.text
    table.alter([DropColumn("more")])
    assert "engines that find them by name" in caplog.text


SET_NULL, RECONCILE = "hoodie.write.set.null.for.missing.columns", "hoodie.datasource.write.reconcile.schema"


@pytest.mark.parametrize("filled", [{}, {SET_NULL: True}, {SET_NULL: False, RECONCILE: True}, {SET_NULL: False}])
def test_rows_that_lack_a_column(tmp_path, filled):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    lacking = batch([("a", "p", 2, 2)]).drop_columns(["value"])
    if filled == {SET_NULL: False}:
        with pytest.raises(SchemaConflictError, match="'value' is missing"):
            table.write(lacking, "upsert", {**SMALL_BLOOM, **filled})
        assert values(table, "value")["a"] == 1
        table.write(lacking, "delete", {**SMALL_BLOOM, **filled})
        assert sorted(values(table, "value")) == ["b", "c"]
    else:
        table.write(lacking, "upsert", {**SMALL_BLOOM, **filled})
        assert values(table, "value") == {"a": None, "b": 2, "c": 3}


@WITH_LOGS
def test_ordering_values_that_became_longer(table):
    """Logs of both types, deletions among them, are ordered by their numbers."""
    path = table.base_path.replace("/t", "/longer")
    kept = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": str(table.version)}
    made = create(path, FakeClock(), **kept)

    def rows_of(ids, ts, kind):
        return pa.table({"id": ids, "part": ["p"] * len(ids), "ts": pa.array(ts, kind), "v": ts})

    made.write(rows_of(["a", "b", "c"], [5, 5, 5], pa.int32()), "insert", SMALL_BLOOM)
    made.write(rows_of(["a"], [9], pa.int32()), "upsert", SMALL_BLOOM)
    made.write(rows_of(["c"], [9], pa.int32()), "delete", SMALL_BLOOM)
    made.alter([WidenColumn("ts", pa.int64())])
    made.write(rows_of(["a", "b"], [8, 2**40], pa.int64()), "upsert", SMALL_BLOOM)
    for _ in range(2):
        assert values(made, "v") == {"a": 9, "b": 2**40}
        compact(made)


def test_merged_logs(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    for row in (("a", "p", 2, 10), ("b", "p", 2, 20)):
        table.write(batch([row]), "upsert", SMALL_BLOOM)
    table.alter([RenameColumn("value", "x"), AddColumn("value", pa.int64())])
    upsert(table, "a", x=11, value=12)
    table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2}, force=True)
    table.run(LOG_COMPACTION)
    assert values(table, "value") == {"a": 12, "b": None, "c": None}
    table.alter([DropColumn("value"), AddColumn("value", pa.int64())])
    for _ in range(2):
        assert values(table, "x") == {"a": 11, "b": 20, "c": 3}
        assert values(table, "value") == dict.fromkeys("abc")
        compact(table)

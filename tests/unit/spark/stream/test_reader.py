"""The reader of a stream, called as Spark calls it, without a session."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from hoodie import CLEAN, HoodieTable, Restore, Rollback
from hoodie.errors import ChangeRangeError, SchemaConflictError
from hoodie.schema.changes import AddColumn, DropColumn, RenameColumn, WidenColumn
from hoodie.spark.stream.columns import stream_columns
from hoodie.spark.stream.options import stream_options
from hoodie.spark.stream.reader import StreamReader
from tests.support.changes import overtaken, write
from tests.support.clock import FakeClock
from tests.support.tables import OPTIONS, create
from tests.support.tables import batch as rows_of

ALL, EMPTY = ReadAllAvailable(), rows_of([])


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1), ("x", "q", 1, 1)], "insert")
    return table


def reader(table, **given):
    options = stream_options({"path": table.base_path, "hoodie.datasource.query.incremental.format": "cdc", **given})
    return StreamReader(options, stream_columns(table.state(), options))


def batch(stream, start, end):
    """(op, key, value after) of a batch."""
    parts = [part for each in stream.partitions(start, end) for part in stream.read(each)]
    rows = pa.Table.from_batches(parts).to_pylist() if parts else []
    return sorted((row["op"], row["_hoodie_record_key"], row["after"] and row["after"]["value"]) for row in rows)


def test_batches_follow_each_other(table):
    stream = reader(table, maxcommitspertrigger="1")
    begin = stream.initialOffset()
    assert stream.getDefaultReadLimit() == ReadMaxFiles(1)
    first = stream.latestOffset(begin, ALL)
    assert batch(stream, begin, first) == [("i", "a", 1), ("i", "x", 1)]
    assert batch(stream, first, stream.latestOffset(first, ALL)) == []
    stream.prepareForTriggerAvailableNow()
    write(table, [("a", "p", 2, 2)])
    assert stream.latestOffset(first, ALL) == first, "the commit came after the query's begin"
    assert stream.reportLatestOffset() != first
    again = reader(table)
    second = again.latestOffset(first, ALL)
    assert batch(again, first, second) == [("u", "a", 2)]
    table.run(CLEAN)
    assert again.latestOffset(second, ALL) == second


def test_a_table_without_commits_has_no_batch_and_its_first_commit_has_one(tmp_path):
    table = HoodieTable.create(tmp_path / "empty", OPTIONS, EMPTY.schema, clock=FakeClock())
    for prepared in (False, True):
        stream = reader(table)
        begin = stream.initialOffset()
        if prepared:
            stream.prepareForTriggerAvailableNow()
        assert stream.latestOffset(begin, ALL) == begin
        assert batch(stream, begin, begin) == []
    write(table, [("a", "p", 1, 1)], "insert")
    assert stream.latestOffset(begin, ALL) == begin, "the query ends where the table was when it began"
    again = reader(table)
    assert batch(again, begin, again.latestOffset(begin, ALL)) == [("i", "a", 1)]


def test_rows_of_a_range(table):
    rows = reader(table, **{"hoodie.datasource.query.incremental.format": "latest_state"})
    begin = rows.latestOffset(rows.initialOffset(), ALL)
    write(table, [("a", "p", 2, 2)])
    end = rows.latestOffset(begin, ALL)
    parts = [part for each in rows.partitions(begin, end) for part in rows.read(each)]
    assert [row["value"] for row in pa.Table.from_batches(parts).to_pylist()] == [2]


@pytest.mark.parametrize(
    ("way", "expected"), [("earliest", [("u", "a", 5)]), ("resnapshot", [("i", "a", 5), ("i", "x", 1)]), ("fail", None)]
)
def test_a_range_that_was_cleaned(table, way, expected):
    stream = reader(table, ondataloss=way)
    begin = stream.latestOffset(stream.initialOffset(), ALL)
    for number in range(2, 6):
        write(table, [("a", "p", number, number)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    end = stream.latestOffset(begin, ALL)
    if expected is None:
        with pytest.raises(ChangeRangeError, match="set onDataLoss to earliest"):
            stream.partitions(begin, end)
    else:
        assert batch(stream, begin, end) == expected


@pytest.mark.parametrize(("way", "expected"), [("resnapshot", [("i", "a", 3), ("i", "x", 1)]), ("fail", None)])
def test_a_table_that_was_restored(table, way, expected):
    table.savepoint()
    kept = table.timeline.commits[0].time
    write(table, [("a", "p", 2, 2)])
    stream = reader(table, ondataloss=way)
    begin = stream.latestOffset(stream.initialOffset(), ALL)
    table.run(Restore(kept))
    if expected is None:
        with pytest.raises(ChangeRangeError, match="no commit that completed"):
            stream.latestOffset(begin, ALL)
        return
    write(table, [("a", "p", 3, 3)])
    assert batch(stream, begin, stream.latestOffset(begin, ALL)) == expected


def test_the_checkpoint_of_another_table_is_refused_however_losses_are_taken(table):
    stream = reader(table, ondataloss="resnapshot")
    with pytest.raises(ChangeRangeError, match="another table"):
        stream.latestOffset({"table": "others", "position": ""}, ALL)


@pytest.mark.parametrize("way", ["earliest", "resnapshot"])
@pytest.mark.parametrize("shape", ["cdc", "latest_state"])
def test_a_planned_batch_whose_end_was_cleaned(table, way, shape):
    """The process died behind the plan, and started again much later."""
    stream = reader(table, ondataloss=way, **{"hoodie.datasource.query.incremental.format": shape})
    begin = stream.latestOffset(stream.initialOffset(), ALL)
    write(table, [("a", "p", 2, 2)])
    write(table, [("a", "p", 3, 3)])
    end = stream.latestOffset(begin, ALL)
    for number in range(4, 8):
        write(table, [("a", "p", number, number)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    rows = [row for each in stream.partitions(begin, end) for part in stream.read(each) for row in part.to_pylist()]
    values = sorted((row.get("after") or row)["value"] for row in rows)
    assert values == ([] if way == "earliest" else [1, 7])


def test_goes_on_from_the_first_commit_in_a_table_that_was_restored(table):
    table.savepoint()
    stream = reader(table, ondataloss="earliest")
    write(table, [("a", "p", 2, 2)])
    begin = stream.latestOffset(stream.initialOffset(), ALL)
    table.run(Restore(table.timeline.commits[0].time))
    assert batch(stream, begin, stream.latestOffset(begin, ALL)) == [("i", "a", 1), ("i", "x", 1)]


@pytest.mark.parametrize("shape", ["cdc", "latest_state"])
@pytest.mark.parametrize("change", [AddColumn("more", pa.int32()), RenameColumn("value", "amount")])
def test_batches_before_a_change_of_columns_have_the_columns_of_now(table, shape, change):
    table.alter([change])
    stream = reader(table, maxcommitspertrigger="1", **{"hoodie.datasource.query.incremental.format": shape})
    begin = stream.initialOffset()
    end = stream.latestOffset(begin, ReadMaxFiles(1))
    rows = [row for each in stream.partitions(begin, end) for part in stream.read(each) for row in part.to_pylist()]
    found = sorted(
        (image["id"], image.get("more"), image.get("amount")) for image in (r.get("after") or r for r in rows)
    )
    assert found == (
        [("a", None, 1), ("x", None, 1)] if change.name == "value" else [("a", None, None), ("x", None, None)]
    )


@pytest.mark.parametrize("shape", ["cdc", "latest_state"])
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (RenameColumn("value", "amount"), "no such column"),
        (DropColumn("value"), "no such column"),
        (WidenColumn("value", pa.float64()), "int64 in the query, double in the table"),
        (AddColumn("more", pa.int32()), None),
    ],
)
def test_a_change_of_columns_under_a_running_query(table, shape, change, found):
    stream = reader(table, **{"hoodie.datasource.query.incremental.format": shape})
    begin = stream.latestOffset(stream.initialOffset(), ALL)
    table.alter([change])
    write(table, [("b", "p", 1, 1)], "insert") if found is None else None
    end = stream.latestOffset(begin, ALL)
    if end == begin:  # an alteration changes no row
        end = {**begin, "position": table.timeline.commits[-1].completion_time}
    if found is None:
        rows = [row for each in stream.partitions(begin, end) for part in stream.read(each) for row in part.to_pylist()]
        assert [(row.get("after") or row)["value"] for row in rows] == [1]
    else:
        with pytest.raises(SchemaConflictError, match=f"(?s)'value' .* has changed .*{found}"):
            stream.partitions(begin, end)


def test_a_query_starts_beside_a_write_of_version_6(tmp_path):
    table = create(tmp_path / "six", FakeClock(), **{"hoodie.write.table.version": "6"})
    first = write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("b", "p", 1, 1)], "insert")
    table.storage.create(f".hoodie/{int(first) + 1}.commit.requested", b"")
    stream = reader(table)
    begin = stream.initialOffset()
    assert batch(stream, begin, stream.latestOffset(begin, ALL)) == [("i", "a", 1)]


def test_a_rollback_behind_a_commit_that_completed_later(tmp_path):
    """The commit of the position stays, and one that it overtook is taken back."""
    table = create(tmp_path / "two", FakeClock())
    overtaken(table)
    streams = {way: reader(table, ondataloss=way) for way in ("fail", "resnapshot")}
    begin = streams["fail"].latestOffset(streams["fail"].initialOffset(), ALL)
    table.run(Rollback(table.timeline.commits[-1].time))
    with pytest.raises(ChangeRangeError, match="no commit that began at"):
        streams["fail"].latestOffset(begin, ALL)
    again = streams["resnapshot"]
    assert batch(again, begin, again.latestOffset(begin, ALL)) == [("i", "a", 1), ("i", "x", 2)]


def test_a_column_whose_name_is_used_again_ends_a_stream(table):
    """Also one that was stopped at that time: the changes would go into the column of the rows before."""
    begin = reader(table).latestOffset(reader(table).initialOffset(), ALL)
    table.alter([DropColumn("value"), AddColumn("value", pa.int64())])
    write(table, [("a", "p", 2, 2)])
    stream = reader(table)
    with pytest.raises(ChangeRangeError, match="'value' is the name of another column"):
        batch(stream, begin, stream.latestOffset(begin, ALL))
    again = reader(table, ondataloss="resnapshot")
    end = again.latestOffset(begin, ALL)
    assert batch(again, begin, end) == [("i", "a", 2), ("i", "x", None)]
    write(table, [("a", "p", 3, 3)])
    assert batch(stream, end, stream.latestOffset(end, ALL)) == [("u", "a", 3)]

"""The reader of a stream, called as Spark calls it, without a session."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from hoodie import CLEAN, HoodieTable, Restore
from hoodie.errors import ChangeRangeError
from hoodie.spark.stream.options import stream_options
from hoodie.spark.stream.reader import StreamReader, stream_columns
from tests.support.changes import write
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

"""`spark.readStream.format("hoodie")`: rows and changes of new commits, each once, over restarts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import hoodie.spark
from hoodie import CLEAN
from tests.support.changes import apply, counted, write
from tests.support.tables import batch, create

pytestmark = pytest.mark.spark

CDC = {"hoodie.datasource.query.incremental.format": "cdc"}


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


class Stream:
    """A query that appends each batch to a list; `run` starts it again at its checkpoint until nothing is left."""

    def __init__(self, spark, table, checkpoint, **options):
        self.spark, self.table, self.checkpoint, self.options = spark, table, str(checkpoint), options
        self.batches = []

    def run(self):
        """The rows that this run gave, as dicts."""
        before = len(self.batches)
        frame = self.spark.readStream.format("hoodie").options(**self.options).load(self.table.base_path)

        def keep(rows, number):
            self.batches.append([row.asDict(recursive=True) for row in rows.collect()])

        query = frame.writeStream.foreachBatch(keep).option("checkpointLocation", self.checkpoint)
        query.trigger(availableNow=True).start().awaitTermination(120)
        return [row for rows in self.batches[before:] for row in rows]


def test_changes_reach_a_consumer_once_over_restarts(spark, tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("d", "q", 1, 1)])
    stream = Stream(spark, table, tmp_path / "checkpoint", maxCommitsPerTrigger="1", **CDC)
    rows = counted(table.read().slice(0, 0))
    apply(rows, in_order(stream.run()))
    assert rows == counted(table.read())
    assert len(stream.batches) == 2, "a batch for each commit"
    assert stream.run() == []
    write(table, [("b", "p", 2, 1)], "delete")
    write(table, [("a", "p", 3, 3)], "insert_overwrite")
    apply(rows, in_order(stream.run()))
    assert rows == counted(table.read())


def in_order(changes):
    return sorted(changes, key=lambda row: (row["_hoodie_completion_time"], row["op"] != "d"))


def test_rows_are_those_that_commits_wrote(spark, tmp_path):
    table = create(tmp_path / "t")
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    stream = Stream(spark, table, tmp_path / "checkpoint")
    assert {(row["id"], row["value"]) for row in stream.run()} == {("a", 2), ("b", 1)}
    write(table, [("c", "p", 1, 3)])
    assert [(row["id"], row["value"]) for row in stream.run()] == [("c", 3)]
    later = Stream(spark, table, tmp_path / "other", **{"hoodie.datasource.streaming.startOffset": first})
    assert {(row["id"], row["value"]) for row in later.run()} == {("a", 2), ("c", 3)}


@pytest.mark.deep("the unit tests of the reader have it without Spark")
def test_a_range_that_was_cleaned(spark, tmp_path):
    table = create(tmp_path / "t")
    write(table, [("a", "p", 0, 0), ("x", "q", 0, 0)], "insert")
    ways = {
        way: Stream(spark, table, tmp_path / way, onDataLoss=way, **CDC) for way in ("fail", "earliest", "resnapshot")
    }
    for stream in ways.values():
        assert len(stream.run()) == 2
    for number in range(1, 6):
        write(table, [("a", "p", number, number)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    with pytest.raises(StreamingQueryException, match="set onDataLoss to earliest"):
        ways["fail"].run()
    assert [(row["op"], row["after"]["value"]) for row in ways["earliest"].run()] == [("u", 5)]
    assert sorted((row["op"], row["after"]["value"]) for row in ways["resnapshot"].run()) == [("i", 0), ("i", 5)]
    write(table, [("b", "p", 9, 9)])
    for way in ("earliest", "resnapshot"):
        assert [row["after"]["id"] for row in ways[way].run()] == ["b"]


@pytest.mark.deep("the unit tests of offsets have it without Spark")
def test_a_checkpoint_of_another_table_is_refused(spark, tmp_path):
    table, other = create(tmp_path / "t"), create(tmp_path / "o", **{"hoodie.table.name": "others"})
    for each in (table, other):
        write(each, [("a", "p", 1, 1)], "insert")
    Stream(spark, table, tmp_path / "checkpoint").run()
    with pytest.raises(StreamingQueryException, match="another table"):
        Stream(spark, other, tmp_path / "checkpoint").run()


@pytest.mark.deep("a restart reads the columns as any read does")
def test_a_column_that_comes_while_the_query_runs(spark, tmp_path):
    """The query keeps its columns; one that is started again has the new one."""
    table = create(tmp_path / "t")
    write(table, [("a", "p", 1, 1)], "insert")
    stream = Stream(spark, table, tmp_path / "checkpoint", **CDC)
    stream.run()
    table.write(batch([("b", "p", 1, 1)]).append_column("more", pa.array(["x"])), "upsert")
    (row,) = stream.run()
    assert row["after"]["more"] == "x"

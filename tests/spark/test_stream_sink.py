"""`hoodie.spark.stream_sink`: each batch of a query is in the table once."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie.errors import ConfigError, StreamBatchError, TableNotFoundError
from hoodie.spark.stream import batch_writer as module
from tests.support.changes import write
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, content, create

pytestmark = pytest.mark.spark

SCHEMA = "id string, part string, ts long, value long"


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


def frame(spark, *rows):
    return spark.createDataFrame(list(rows), SCHEMA)


@pytest.mark.parametrize("local_rows", sample([100, 0], 0))
def test_a_batch_is_written_once(spark, tmp_path, local_rows):
    table = create(tmp_path / "t")
    sink = hoodie.spark.stream_sink(table.base_path, SMALL_BLOOM, query="q", local_rows=local_rows, operation="insert")
    rows = frame(spark, ("a", "p", 1, 1), ("b", "q", 1, 1))
    for _ in range(2):
        sink(rows, 0)
    assert len(table.timeline.commits) == 1
    assert sink.result is None, "the second time it was there"
    restarted = hoodie.spark.stream_sink(
        table.base_path, SMALL_BLOOM, query="q", local_rows=local_rows, operation="insert"
    )
    restarted(rows, 0)
    restarted(frame(spark), 1)
    restarted(frame(spark, ("c", "p", 1, 3)), 2)
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 1, 1), "c": ("p", 1, 3)}
    with pytest.raises(StreamBatchError, match="another run of the query"):
        sink(frame(spark, ("d", "p", 1, 4)), 3)
    with pytest.raises(StreamBatchError, match="older than"):
        hoodie.spark.stream_sink(table.base_path, query="q")(rows, 1)
    assert len(table.timeline.commits) == 2


def test_a_batch_that_another_wrote_meanwhile_is_found_under_the_lock(spark, tmp_path, monkeypatch):
    table = create(tmp_path / "t")
    first, second = (
        hoodie.spark.stream_sink(table.base_path, SMALL_BLOOM, query="q", operation="insert") for _ in range(2)
    )
    rows = frame(spark, ("a", "p", 1, 1))
    looks = []

    def look(state, *asked):
        looks.append(state)
        if len(looks) == 1:  # the look before the write; the other sink writes now
            monkeypatch.setattr(module, "check_batch", real)
            second(rows, 0)
            monkeypatch.setattr(module, "check_batch", look)
            return None
        return real(state, *asked)

    real = module.check_batch
    monkeypatch.setattr(module, "check_batch", look)
    first(rows, 0)
    assert len(looks) == 2
    assert first.result is None
    assert table.read().num_rows == 1


@pytest.mark.deep("other tests read, write and start again: here they meet in one query")
def test_rows_flow_from_table_to_table(spark, tmp_path):
    """A query reads one table and writes another; started again it goes on where it was."""
    source, target = create(tmp_path / "s"), create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    write(source, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    for number in (2, 3):
        rows = spark.readStream.format("hoodie").load(source.base_path).select("id", "part", "ts", "value")
        query = rows.writeStream.foreachBatch(hoodie.spark.stream_sink(target.base_path, SMALL_BLOOM))
        query = query.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
        query.awaitTermination(120)
        assert content(target) == content(source)
        write(source, [("a", "p", number, number), (f"n{number}", "q", 1, 1)])
    assert len(target.timeline.commits) == 2


@pytest.mark.parametrize("local_rows", sample([100, 0], 1))
def test_changes_flow_from_table_to_table(spark, tmp_path, local_rows):
    """The driver applies small batches; tasks of Spark exchange the changes of large ones by key, and leave no file behind."""
    source = create(tmp_path / "s")
    target = create(tmp_path / "t", **{"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
    moves = {"hoodie.index.type": "GLOBAL_SIMPLE"}
    write(source, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1)])
    write(source, [("a", "q", 2, 2)], **moves)
    write(source, [("b", "p", 2, 2)], "delete")
    write(source, [("b", "p", 1, 3)])
    sink = hoodie.spark.stream_sink(target.base_path, SMALL_BLOOM, op_column="op", local_rows=local_rows)
    feed = spark.readStream.format("hoodie").option("hoodie.datasource.query.incremental.format", "cdc")
    query = feed.load(source.base_path).writeStream.foreachBatch(sink)
    query.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination(120)
    assert content(target) == content(source) == {"a": ("q", 2, 2), "b": ("p", 1, 3), "c": ("p", 1, 1)}
    assert not list((tmp_path / "t" / ".hoodie").glob(".staged/*"))


def test_a_query_with_state_goes_on_after_a_batch_that_is_there(spark, tmp_path):
    """A kill between the commit of the table and that of Spark: the batch comes again, and its state with it."""
    table, landing, checkpoint = create(tmp_path / "t"), tmp_path / "landing", tmp_path / "c"

    def run(*rows):
        frame(spark, *rows).coalesce(1).write.mode("append").parquet(str(landing))
        once = spark.readStream.schema(SCHEMA).parquet(str(landing)).dropDuplicates(["id"])
        sink = hoodie.spark.stream_sink(table.base_path, SMALL_BLOOM, operation="insert")
        query = once.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
        query.trigger(availableNow=True).start().awaitTermination(120)

    run(("a", "p", 1, 1), ("b", "p", 1, 1))
    for name in ("0", ".0.crc"):
        (checkpoint / "commits" / name).unlink()
    run(("a", "p", 2, 2), ("c", "p", 2, 2))
    assert content(table) == {"a": ("p", 1, 1), "b": ("p", 1, 1), "c": ("p", 2, 2)}
    assert len(table.timeline.commits) == 2


def test_a_function_that_writes_twice_is_noticed(spark, tmp_path):
    source, target = create(tmp_path / "s"), create(tmp_path / "t")
    write(source, [("a", "p", 1, 1), ("b", "q", 1, 1)], "insert")
    one, other = (hoodie.spark.stream_sink(target.base_path, SMALL_BLOOM) for _ in range(2))

    def both(rows, batch):
        one(rows.where("part = 'p'"), batch)
        other(rows.where("part = 'q'"), batch)

    rows = spark.readStream.format("hoodie").load(source.base_path).select("id", "part", "ts", "value")
    query = rows.writeStream.foreachBatch(both).option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(Exception, match="written twice"):
        query.trigger(availableNow=True).start().awaitTermination(120)
    assert content(target) == {"a": ("p", 1, 1)}


def test_bad_arguments(spark, tmp_path):
    with pytest.raises(TableNotFoundError):
        hoodie.spark.stream_sink(tmp_path / "nothing")
    table = create(tmp_path / "t")
    with pytest.raises(ConfigError, match="has no query"):
        hoodie.spark.stream_sink(table.base_path)(frame(spark, ("a", "p", 1, 1)), 0)

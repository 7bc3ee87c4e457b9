"""`df.write.format("hoodie")` writes what `hoodie.spark.write` writes, and leaves nothing but that."""

from __future__ import annotations

import datetime
import os

import pytest
from pyspark.errors import IllegalArgumentException, PySparkException

import hoodie.spark
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import EngineError
from hoodie.spark.sink import Sink
from hoodie.spark.sink_options import WriteRequest
from hoodie.spark.write_server import server_of
from tests.support.matrix import sample
from tests.support.tables import OPTIONS, batch, content, create

pytestmark = pytest.mark.spark

OPERATION = "hoodie.datasource.write.operation"


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


@pytest.fixture
def rows(spark):
    return spark.range(30).selectExpr("concat('k', id) id", "concat('p', id % 2) part", "id ts", "id * 2 value")


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", None, LocalEngine(1))
    table.write(batch([("k1", "p1", 0, 0), ("k1000", "p0", 0, 0)]), "insert")
    return table


def save(frame, path, mode="append", **options):
    frame.write.format("hoodie").options(**options).mode(mode).save(str(path))


def nothing_staged(path):
    return not [file for _, _, files in os.walk(f"{path}/.hoodie/.staged") for file in files]


def expected(count=30):
    return {f"k{i}": (f"p{i % 2}", i, i * 2) for i in range(count)}


def test_a_table_is_created_and_then_added_to(rows, tmp_path):
    path = tmp_path / "new"
    save(rows.where("ts < 10").repartition(3), path, **OPTIONS)
    save(rows.repartition(2), path)
    table = HoodieTable.open(path)
    assert content(table) == expected()
    assert [each.action.name for each in table.timeline] == ["COMMIT", "COMMIT"]
    assert nothing_staged(path)


def test_types_arrive_as_by_the_other_call(spark, tmp_path):
    frame = spark.sql(
        "SELECT 'a' id, TIMESTAMP'2026-01-01 12:00:00' at, DATE'2026-01-02' d, 1.50BD price, array(1, 2) l, map('x', 1.5D) m,"
        " named_struct('a', 1, 'b', 'c') s, X'0102' b, CAST(NULL AS INT) n, TIMESTAMP_NTZ'2026-01-01 12:00:00' local"
    )
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # of the batches, not of what is stored
    try:
        options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
        save(frame, tmp_path / "by_format", **options)
        other = HoodieTable.create(tmp_path / "by_call", options)
        hoodie.spark.write(frame, other.base_path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    stored = HoodieTable.open(tmp_path / "by_format").read()
    assert stored.equals(other.read())
    assert stored["at"][0].as_py() == datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    assert stored["local"][0].as_py() == datetime.datetime(2026, 1, 1, 12)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_overwrite_leaves_the_rows_alone_one_a_key(rows, tmp_path, kind):
    path = tmp_path / "t"
    table = create(path, None, LocalEngine(1), **{"hoodie.table.type": kind})
    table.write(batch([("k1", "p1", 0, 0), ("gone", "p0", 0, 0)]), "insert")
    save(rows.union(rows.selectExpr("id", "part", "ts - 1", "7")), path, "overwrite")
    assert content(table) == expected()
    assert "gone" in content(table, as_of=table.timeline.commits[0].time)


def test_overwrite_of_partitions_leaves_the_others(rows, table):
    save(rows.where("part = 'p1'"), table.base_path, "overwrite", **{OPERATION: "insert_overwrite"})
    found = content(table)
    assert found.pop("k1000") == ("p0", 0, 0)
    assert found == {key: row for key, row in expected().items() if row[0] == "p1"}


def test_a_frame_of_the_table_overwrites_it(spark, table):
    """Its meta columns are the table's business, and its rows are staged before any of them is replaced."""
    frame = spark.read.format("hoodie").load(table.base_path)
    save(frame.withColumn("value", frame.value + 5), table.base_path, "overwrite")
    assert content(table) == {"k1": ("p1", 0, 5), "k1000": ("p0", 0, 5)}


def test_deletions_and_no_rows_at_all(rows, table):
    save(rows.where("ts = 1").select("id", "part", "ts"), table.base_path, **{OPERATION: "delete"})
    assert list(content(table)) == ["k1000"]
    save(rows.where("ts < 0"), table.base_path)
    assert list(content(table)) == ["k1000"]
    with pytest.raises(PySparkException, match="Mode overwrite cannot go with"):
        save(rows, table.base_path, "overwrite", **{OPERATION: "delete"})


@pytest.mark.parametrize(
    ("change", "options", "said"),
    sample(
        [
            ({}, {"hoodie.upsrt.shuffle": "1"}, "'hoodie.upsrt.shuffle' is not known here"),
            ({"id": "CAST(NULL AS STRING)"}, {}, "Record key id is null or empty"),
            ({"ts": "CAST(ts AS STRING)"}, {}, "Column 'ts'"),
            ({"value": "if(ts = 29, raise_error('this row'), value)"}, {}, "this row"),
        ],
        1,
        3,
    ),
)
def test_what_fails_says_why_and_leaves_nothing(rows, table, change, options, said):
    before = content(table), len(table.timeline.commits)
    with pytest.raises(PySparkException, match=said):
        save(
            rows.repartition(3).selectExpr(*(f"{change.get(c, c)} AS {c}" for c in rows.columns)),
            table.base_path,
            **options,
        )
    assert (content(table), len(table.timeline.commits)) == before
    assert nothing_staged(table.base_path)


@pytest.mark.parametrize("mode", ["error", "ignore"])
def test_spark_has_two_modes_for_sources_of_python(rows, table, mode):
    with pytest.raises(PySparkException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        save(rows, table.base_path, mode)


def test_spark_tells_a_source_of_python_no_partitions(rows, table):
    """And says so: they are options."""
    with pytest.raises(IllegalArgumentException, match="do not match the existing table's"):
        rows.write.format("hoodie").partitionBy("part").mode("append").save(table.base_path)


def test_batches_of_a_stream(spark, rows, tmp_path):
    rows.write.parquet(str(tmp_path / "source"))
    stream = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "source"))
    writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "seen")).trigger(availableNow=True)
    writer.foreachBatch(lambda batch, _: save(batch, tmp_path / "t", **OPTIONS)).start().awaitTermination(60)
    assert content(HoodieTable.open(tmp_path / "t")) == expected()


def test_a_first_write_that_fails_leaves_no_table(rows, tmp_path):
    failing = rows.selectExpr("id", "part", "ts", "if(ts = 29, raise_error('this row'), value) value")
    with pytest.raises(PySparkException, match="this row"):
        save(failing, tmp_path / "new", **OPTIONS)
    save(rows, tmp_path / "new", **OPTIONS)
    assert content(HoodieTable.open(tmp_path / "new")) == expected()
    with pytest.raises(PySparkException, match=r"hoodie\.table\.name is missing"):
        save(rows, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def sink(table, rows, address):
    return Sink(WriteRequest.of({"path": table.base_path}, False), rows.schema, address)


def test_attempts_that_do_not_count_are_not_written(spark, rows, table):
    """A speculative copy of a task, or one that was run again, stages its rows too."""
    writing = sink(table, rows, server_of(spark).address)
    twice = [writing.write(iter(batch([("k5", "p1", 1, value)]).to_batches())) for value in (1, 2)]
    assert not nothing_staged(table.base_path)
    writing.commit([twice[1]])
    assert content(table)["k5"] == ("p1", 1, 2)
    assert nothing_staged(table.base_path)


def test_lost_staged_rows_fail_the_write(spark, rows, table):
    writing = sink(table, rows, server_of(spark).address)
    done = writing.write(iter(batch([("k5", "p1", 1, 1)]).to_batches()))
    table.storage.delete(done.splits[0].path)
    with pytest.raises(Exception, match=done.splits[0].path):
        writing.commit([done])
    assert "k5" not in content(table)


def test_a_process_that_has_ended_is_told(rows, table):
    writing = sink(table, rows, "/nowhere/at/all")
    done = writing.write(iter(batch([("k5", "p1", 1, 1)]).to_batches()))
    with pytest.raises(EngineError, match=r"hoodie\.spark\.register"):
        writing.commit([done])
    writing.abort([done])
    assert nothing_staged(table.base_path)

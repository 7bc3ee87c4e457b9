"""The same write on threads and on Spark gives the same table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hoodie.spark
from benchmarks.parquet_splits import parquet_splits
from hoodie import HoodieTable
from hoodie.engine import LocalEngine, arrow_splits
from hoodie.engine.local import machine_memory
from hoodie.errors import RecordKeyError
from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, PARTITION_PATH, RECORD_KEY
from tests.support.clock import FakeClock
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.spark


def history(seed):
    random = np.random.default_rng(seed)

    def some(count, ts):
        numbers = random.integers(0, 3000, count)
        return batch(
            [(f"k{n}", f"p{n % 3}", int(ts + random.integers(0, 3)), int(random.integers(0, 1000))) for n in numbers]
        )

    return [
        ("insert", batch([(f"k{n}", f"p{n % 3}", 0, n) for n in range(2000)])),
        ("upsert", some(900, 1)),
        ("delete", some(200, 1)),
        ("upsert", some(500, 2)),
        ("bulk_insert", batch([(f"new{n}", "p9", 0, n) for n in range(50)])),
    ]


@pytest.mark.parametrize("version", sample(["9", "6"], 0))
def test_same_table_on_both_engines(spark, tmp_path, version):
    tables = []
    options = {**SMALL_BLOOM, "hoodie.copyonwrite.record.size.estimate": 100, "hoodie.parquet.max.file.size": 60_000}
    for name, engine in (("threads", LocalEngine(2)), ("spark", hoodie.spark.SparkEngine(spark))):
        table = create(tmp_path / name, FakeClock(), engine, **{"hoodie.write.table.version": version})
        for operation, rows in history(5):
            table.write(rows, operation, options)
        tables.append(table)
    threads, on_spark = tables
    assert content(threads) == content(on_spark)
    columns = [RECORD_KEY, PARTITION_PATH, COMMIT_TIME, "value"]
    left, right = (t.read(columns=columns).sort_by([(RECORD_KEY, "ascending")]) for t in tables)
    assert left.equals(right)
    assert sorted(s.partition for s in threads.file_slices()) == sorted(s.partition for s in on_spark.file_slices())
    for table in tables:
        rows = table.read(columns=[COMMIT_SEQNO, FILE_NAME, COMMIT_TIME])
        assert len(set(rows[COMMIT_SEQNO].to_pylist())) == rows.num_rows
        names = {s.base_file.name for s in table.file_slices()}
        assert set(rows[FILE_NAME].to_pylist()) == names


def test_dataframes_in_and_out(spark, tmp_path):
    table = create(tmp_path / "t")
    frame = spark.createDataFrame([("a", "p", 1, 10), ("b", "q", 1, 20)], "id string, part string, ts long, value long")
    hoodie.spark.write(frame, table.base_path, "insert")
    hoodie.spark.write(
        frame.where("id = 'a'").selectExpr("id", "part", "ts + 1 ts", "value + 1 value"), table.base_path
    )
    hoodie.spark.write(frame.where("id = 'b'"), table.base_path, "delete")
    assert content(table) == {"a": ("p", 2, 11)}
    back = hoodie.spark.read(spark, table.base_path, columns=["id", "value"])
    assert [tuple(row) for row in back.collect()] == [("a", 11)]
    first = table.timeline.commits[0].time
    assert hoodie.spark.read(spark, table.base_path, as_of=first).count() == 2
    assert hoodie.spark.read(spark, table.base_path, partitions=["part=q"]).count() == 0
    bulk = spark.range(1000).selectExpr("cast(id as string) id", "'z' part", "1L ts", "id value")
    hoodie.spark.write(bulk, table.base_path, "bulk_insert")
    assert hoodie.spark.read(spark, table.base_path).count() == 1001


def test_an_error_of_a_worker_keeps_its_type(spark, tmp_path):
    table = create(tmp_path / "t", engine=hoodie.spark.SparkEngine(spark))
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    bad = batch([("b", "p", 1, 1), (None, "p", 1, 1)])
    for operation in ("upsert", "bulk_insert"):
        with pytest.raises(RecordKeyError, match="null or empty") as caught:
            table.write(bad, operation, SMALL_BLOOM)
        assert "\n" not in str(caught.value)
    assert content(table) == {"a": ("p", 1, 1)}
    assert table.timeline.pending == ()


def deal(buckets):
    """Rows of `number` by its remainder."""

    def dealt(split, batches):
        for some in batches:
            rows = pa.Table.from_batches([some])
            for bucket in range(buckets):
                yield bucket, rows.filter(pa.array(rows["number"].to_numpy() % buckets == bucket))

    return dealt


def again(bucket, tables):
    return ((bucket, table) for table in tables)


def numbers(bucket, tables):
    return bucket, sorted(number for table in tables for number in table["number"].to_pylist())


def test_workers_read_parquet_files_themselves(spark, tmp_path):
    rows = batch([(f"k{n}", "p", 1, n) for n in range(10_000)])
    for part in range(3):
        pq.write_table(
            rows.slice(part * 3000, 3000 if part < 2 else 4000), tmp_path / f"{part}.parquet", row_group_size=1000
        )
    paths = [str(tmp_path / f"{part}.parquet") for part in range(3)]
    splits, schema = parquet_splits(paths, 2)
    assert len(splits) == 2
    assert pa.concat_tables([pa.Table.from_batches(list(split.batches())) for split in splits]).equals(rows)
    table = create(tmp_path / "t", engine=hoodie.spark.SparkEngine(spark))
    assert table.write(splits, "upsert", SMALL_BLOOM, schema=schema).rows_inserted == 10_000
    assert HoodieTable.open(table.base_path).read().num_rows == 10_000


def test_what_a_task_may_take_is_what_the_heap_leaves(spark):
    engine = hoodie.spark.SparkEngine(spark)
    assert engine.task_memory == (machine_memory() - (1 << 30)) // 2  # the driver's heap is 1 GiB when nothing is set


def test_small_buckets_share_a_task_and_keep_their_rows(spark):
    engine = hoodie.spark.SparkEngine(spark)
    splits = arrow_splits(pa.table({"number": np.arange(1000)}), 3)
    dealt = engine.exchange_inputs([(deal(40), splits)], 40).exchange(again, 40, sizes=[1] * 39 + [1 << 40])
    assert dealt.map(numbers) == [(bucket, list(range(bucket, 1000, 40))) for bucket in range(40)]
    assert dealt._rdd.getNumPartitions() < 40
    empty = engine.exchange_inputs([(deal(1), splits)], 1).exchange(again, 5, sizes=[1] * 5)
    assert [len(rows) for _, rows in empty.map(numbers)] == [1000, 0, 0, 0, 0]


def test_small_tasks_share_one_of_spark_s(spark):
    engine = hoodie.spark.SparkEngine(spark)
    assert engine.map(str, range(50), [1] * 50) == [str(number) for number in range(50)]
    assert engine.map(str, [], []) == []

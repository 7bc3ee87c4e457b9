"""Incremental reads as DataFrames: the rows of the library's own reads, for any mixture of files in the range."""

from __future__ import annotations

from itertools import product

import pytest

import hoodie.spark
from hoodie import CLEAN, HoodieTable
from hoodie.errors import ConfigError, TimeTravelError
from hoodie.model.meta_columns import COMMIT_TIME
from tests.interop.rows import rows
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create

CASES = [("9", "COPY_ON_WRITE"), ("6", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("6", "MERGE_ON_READ")]


def frame_rows(frame):
    return rows(frame.toArrow(), frame.columns)


@pytest.mark.parametrize(("version", "kind"), sample(CASES, 2))
def test_every_range_has_the_rows_of_the_arrow_read(spark, tmp_path, version, kind):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    table = create(tmp_path / "t", FakeClock(), **options)
    times = [None]
    for entries, operation in (
        ([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1), ("e", "r", 1, 1)], "insert"),
        ([("a", "p", 2, 2)], "upsert"),
        ([("c", "q", 3, 3), ("d", "s", 3, 3)], "upsert"),
        ([("b", "p", 4, 4)], "delete"),
    ):
        done = table.write(batch(entries), operation, SMALL_BLOOM).instant
        times.append(done.time if version == "6" else done.completion_time)
    archive_before(table, table.timeline.commits[2].time)
    for first, last in ((0, None), (0, 1), (1, None), (1, 3), (2, 4)):
        moments = (times[first], None if last is None else times[last])
        expected = table.read_incremental(*moments, columns=["id", "ts", "value", COMMIT_TIME])
        assert expected.num_rows
        frame = hoodie.spark.read_incremental(spark, table.base_path, *moments)
        assert rows(frame.toArrow(), expected.schema.names) == rows(expected, expected.schema.names)
    whole = hoodie.spark.read_incremental(spark, table.base_path, times[1])
    assert whole.columns[0] == COMMIT_TIME
    assert frame_rows(whole.where("value = 3").select("id")) == [("c",), ("d",)]
    only = hoodie.spark.read_incremental(spark, table.base_path, times[2], columns=["value", "id"])
    assert (only.columns, frame_rows(only)) == (["value", "id"], [(3, "c"), (3, "d")])
    full = hoodie.spark.read_incremental(spark, table.base_path, "20200101", columns=["id"], full_scan=True)
    assert frame_rows(full) == [("a",), ("c",), ("d",), ("e",)]
    nothing = hoodie.spark.read_incremental(spark, table.base_path, times[4], columns=["id"])
    assert (nothing.columns, nothing.count()) == (["id"], 0)
    with pytest.raises(ConfigError, match="no column 'x'"):
        hoodie.spark.read_incremental(spark, table.base_path, times[0], columns=["x"])


@pytest.mark.parametrize(
    ("archive", "name"),
    [
        *product(("12v9", "15v6"), ("mor_avro", "mor_pendcomp", "cow_clust")),
        ("12merge", "event"),
        ("12merge", "commit"),
    ],
)
def test_tables_of_hudi(spark, golden, archive, name):
    table = HoodieTable.open(str(golden(archive) / name))
    first = table.timeline.commits[0]
    start = first.time if table.version == 6 else first.completion_time
    expected = table.read_incremental(start)
    assert 0 < expected.num_rows <= table.read().num_rows
    frame = hoodie.spark.read_incremental(spark, table.base_path, start, columns=expected.schema.names)
    assert rows(frame.toArrow()) == rows(expected)


def test_the_range_reaches_the_parquet_files(spark, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    first = table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM).instant.completion_time
    table.write(batch([("b", "q", 2, 2)]), "insert", SMALL_BLOOM)
    frame = hoodie.spark.read_incremental(spark, table.base_path, first).where("value > 1").select("id")
    spark.conf.set("spark.sql.maxMetadataStringLength", "10000")
    plan = frame._jdf.queryExecution().executedPlan().toString()
    pushed = plan.split("PushedFilters: ")[1].split("ReadSchema")[0]
    assert f"EqualTo({COMMIT_TIME}," in pushed
    assert "GreaterThan(value,1)" in pushed
    assert "Batched: true" in plan
    assert "part=p" not in plan.split("Location")[1].split("]")[0]
    assert "ts" not in plan.split("ReadSchema")[1]


def test_a_cleaned_end_is_refused(spark, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    done = [table.write(batch([("a", "p", n, n)]), "upsert", SMALL_BLOOM).instant for n in range(4)]
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    with pytest.raises(TimeTravelError, match="removed"):
        hoodie.spark.read_incremental(spark, table.base_path, None, done[0].completion_time)
    assert HoodieTable.open(table.base_path).read_incremental(done[0].completion_time).num_rows == 1


def test_files_of_which_few_rows_changed_are_read_by_workers(spark, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([(f"k{n}", "p", 1, n) for n in range(10)]), "insert", SMALL_BLOOM)
    first = table.timeline.commits[-1].completion_time
    table.write(batch([("k3", "p", 2, 2), ("new", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    frame = hoodie.spark.read_incremental(spark, table.base_path, first)
    assert "FileScan" not in frame._jdf.queryExecution().executedPlan().toString()
    assert frame_rows(frame.select("id")) == [("k3",), ("new",)]

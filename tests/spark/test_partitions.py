"""Filters on partition columns, and tables that only Python workers can reach, as DataFrames."""

from __future__ import annotations

from itertools import product

import pyarrow.compute as pc
import pytest

import hoodie.spark
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.spark.hadoop import readable_url
from tests.support.matrix import sample
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create

part = pc.field("part")
MERGE_ON_READ = {"hoodie.table.type": "MERGE_ON_READ"}


def rows_of(frame):
    return sorted((row["id"], row["part"], row["value"]) for row in frame.collect())


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", None, LocalEngine(1), **MERGE_ON_READ)
    table.write(batch([(f"k{i}", f"p{i % 4}", i, i) for i in range(40)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("k1", "p1", 100, 100)]), "upsert", SMALL_BLOOM)
    return table


@pytest.mark.parametrize(
    ("condition", "by_spark", "by_workers", "left_out"),
    [
        (part == "p2", 1, 0, 3),
        (part.isin(["p1", "p2"]), 1, 1, 2),
        ((part == "p2") & (pc.field("value") > 20), 0, 1, 3),
        (part == "nowhere", 0, 0, 4),
    ],
)
def test_a_filter_on_partitions(spark, table, condition, by_spark, by_workers, left_out):
    """Rows of a partition that all pass are Spark's to scan; the others' are the workers'."""
    frame = hoodie.spark.read(spark, table.base_path, filter=condition)
    expected = table.read(filter=condition).to_pylist()
    assert rows_of(frame) == sorted((row["id"], row["part"], row["value"]) for row in expected)
    said = hoodie.spark.explain(spark, table.base_path, filter=condition)
    assert f"left out by the filter: {left_out}" in said
    assert f"scanned by Spark from {table.base_path}: {by_spark} file slices" in said
    assert f"read by Python workers: {by_workers} file slices" in said


def test_folders_whose_names_hadoop_would_take_for_patterns(spark, tmp_path):
    table = create(tmp_path / "t")
    values = ["a[b]", "a{b,c}", "b*", "c?", "d e", "f%20"]
    table.write(batch([(f"k{i}", value, i, i) for i, value in enumerate(values)]), "bulk_insert", SMALL_BLOOM)
    assert rows_of(hoodie.spark.read(spark, table.base_path)) == [(f"k{i}", v, i) for i, v in enumerate(values)]


def test_incremental_reads_with_a_filter(spark, table):
    start = table.timeline.commits[0].completion_time
    table.write(batch([("k2", "p2", 100, 7)]), "upsert", SMALL_BLOOM)
    frame = hoodie.spark.read_incremental(spark, table.base_path, start, filter=part == "p2")
    assert rows_of(frame) == [("k2", "p2", 7)]


@pytest.mark.parametrize(("scheme", "kind"), sample(product(["s3", "s3a"], ["COPY_ON_WRITE", "MERGE_ON_READ"])))
def test_a_table_that_no_file_system_of_hadoop_reaches_is_read_by_workers(spark, s3, monkeypatch, scheme, kind):
    url = f"{s3.bucket().replace('s3://', f'{scheme}://')}/t"
    table = HoodieTable.create(url, {**OPTIONS, "hoodie.table.type": kind})
    table.write(batch([(f"k{i}", f"p{i % 2}", i, i) for i in range(10)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("k1", "p1", 100, 100)]), "upsert", SMALL_BLOOM)
    assert readable_url(spark, url) is None
    for name, value in s3.environment.items():  # the session began before the server
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    frame = hoodie.spark.read(spark, url, columns=["id", "part", "value"])
    expected = sorted(tuple(row.values()) for row in table.read(columns=["id", "part", "value"]).to_pylist())
    assert rows_of(frame) == expected
    said = hoodie.spark.explain(spark, url)
    assert f"scanned by Spark from {url}: 0 file slices" in said
    assert f"Spark has no file system for {url}" in said


def test_one_store_has_two_names(spark):
    """As where hadoop-aws is there: it knows the scheme s3a."""
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set("fs.s3a.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
    try:
        assert readable_url(spark, "s3://bucket/t") == "s3a://bucket/t"
        assert readable_url(spark, "s3a://bucket/t") == "s3a://bucket/t"
    finally:
        configuration.unset("fs.s3a.impl")
    assert readable_url(spark, "/tmp/t") == "/tmp/t"
    assert readable_url(spark, "file:///tmp/t") == "file:///tmp/t"
    assert readable_url(spark, "gs://bucket/t") is None

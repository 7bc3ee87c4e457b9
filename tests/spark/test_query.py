"""Queries that do not name their columns: of slices with logs the workers still read only those that are needed."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import functions as f

import hoodie.spark
from hoodie.engine import LocalEngine
from hoodie.spark import io
from hoodie.spark.required import required_columns
from tests.support.tables import SMALL_BLOOM, batch, create

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.int64())])


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", None, LocalEngine(1), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([(f"k{i}", f"p{i % 2}", i, i) for i in range(40)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("k1", "p1", 100, 100)]), "upsert", SMALL_BLOOM)
    return table


@pytest.mark.parametrize(
    ("build", "columns"),
    [
        (lambda rows: rows.groupBy("part").sum("value"), ["part", "value"]),
        (lambda rows: rows.where("ts > 5").select("id"), ["id", "ts"]),
        (lambda rows: rows.groupBy().count(), []),
        (lambda rows: rows, SCHEMA.names),
        (
            lambda rows: rows.alias("a").join(rows.alias("b"), f.expr("a.id = b.part")).select("a.ts"),
            ["id", "part", "ts"],
        ),
        (lambda rows: rows.withColumn("more", f.col("value") + 1).orderBy("ts").select("more"), ["ts", "value"]),
        (lambda rows: rows.select(f.expr("1 as one")).limit(3), []),
    ],
)
def test_spark_tells_the_columns(spark, build, columns):
    assert required_columns(spark, SCHEMA, build)[0] == columns


def test_sub_queries_and_views(spark):
    def view(rows):
        rows.createOrReplaceTempView("rows_of_a_table")
        return spark.sql("SELECT part FROM rows_of_a_table WHERE ts > 1")

    def nested(rows):
        rows.createOrReplaceTempView("rows_of_a_table")
        return spark.sql("SELECT part FROM rows_of_a_table WHERE ts > (SELECT avg(value) FROM rows_of_a_table)")

    def cached(rows):
        return rows.where("ts > 1").cache().join(rows.select("id"), "id").select("id")

    assert required_columns(spark, SCHEMA, cached)[0] == SCHEMA.names
    spark.catalog.clearCache()
    assert required_columns(spark, SCHEMA, view)[0] == ["part", "ts"]
    assert required_columns(spark, SCHEMA, nested)[0] == SCHEMA.names


def test_a_query_reads_what_it_needs(spark, table, monkeypatch):
    asked, original = [], io.plan_read
    monkeypatch.setattr(io, "plan_read", lambda state, query: asked.append(query.columns) or original(state, query))
    sums = hoodie.spark.query(
        spark, table.base_path, lambda rows: rows.groupBy("part").agg(f.sum("value").alias("sum"))
    )
    assert {row["part"]: row["sum"] for row in sums.collect()} == {"p0": 380, "p1": 499}
    counted = hoodie.spark.query(spark, table.base_path, lambda rows: rows.groupBy().count())
    assert counted.collect()[0][0] == 40
    assert [list(columns) for columns in asked] == [["part", "value"], ["_hoodie_commit_time"]]


def test_a_query_that_counts_its_columns_gets_all_of_them(spark, table):
    second = hoodie.spark.query(spark, table.base_path, lambda rows: rows.where("value > 99").select(rows.columns[1]))
    assert second.columns == ["_hoodie_commit_seqno"]
    assert second.count() == 1


def test_columns_that_are_not_named_are_told(spark, table):
    assert "hoodie.spark.query" in hoodie.spark.explain(spark, table.base_path)
    assert "hoodie.spark.query" not in hoodie.spark.explain(spark, table.base_path, columns=["id"])

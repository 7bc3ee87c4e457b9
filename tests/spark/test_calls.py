"""Any failure in a call of `hoodie.spark` is a HoodieError, as in the rest of the library."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as f

import hoodie.spark
from hoodie import HoodieError
from hoodie.errors import ArgumentError, EngineError, TableNotFoundError
from tests.support.tables import SMALL_BLOOM, batch, content, create

GARBAGE = [
    *(True, 0, -1, 1.5, "", " ", "\0", "\ud800", "..", "*", "id", "id >", b"id", (), [1], [None], ["id", "id"], {}),
    *({"nope": 1}, {1: 2}, {"hoodie.table.name": None}, object(), object, len, Path("x"), datetime.date(2026, 1, 1)),
    *("2026-13-01", "99999999999999999", datetime.datetime.max, pc.field("nope"), pc.field("id") > 1, f.col, ["\0"]),
]
CALLS = {
    "write": lambda spark, path, bad: hoodie.spark.write(bad, path),
    "write's path": lambda spark, path, bad: hoodie.spark.write(spark.range(1), bad),
    "write's operation": lambda spark, path, bad: hoodie.spark.write(spark.range(1), path, bad),
    "write's options": lambda spark, path, bad: hoodie.spark.write(spark.range(1), path, options=bad),
    "read": lambda spark, path, bad: hoodie.spark.read(bad, path),
    "read's path": lambda spark, path, bad: hoodie.spark.read(spark, bad),
    "read's columns": lambda spark, path, bad: hoodie.spark.read(spark, path, bad),
    "read's as_of": lambda spark, path, bad: hoodie.spark.read(spark, path, as_of=bad),
    "read's partitions": lambda spark, path, bad: hoodie.spark.read(spark, path, partitions=bad),
    "read's options": lambda spark, path, bad: hoodie.spark.read(spark, path, options=bad),
    "read's filter": lambda spark, path, bad: hoodie.spark.read(spark, path, filter=bad),
    "query": lambda spark, path, bad: hoodie.spark.query(bad, path, lambda rows: rows),
    "query's build": lambda spark, path, bad: None if callable(bad) else hoodie.spark.query(spark, path, bad),
    "query's filter": lambda spark, path, bad: hoodie.spark.query(spark, path, lambda rows: rows, filter=bad),
    "explain": lambda spark, path, bad: hoodie.spark.explain(bad, path),
    "explain's columns": lambda spark, path, bad: hoodie.spark.explain(spark, path, bad),
    "read_incremental": lambda spark, path, bad: hoodie.spark.read_incremental(bad, path, None),
    "read_incremental's start": lambda spark, path, bad: hoodie.spark.read_incremental(spark, path, bad),
    "read_incremental's end": lambda spark, path, bad: hoodie.spark.read_incremental(spark, path, None, bad),
    "read_incremental's columns": lambda spark, path, bad: hoodie.spark.read_incremental(spark, path, None, None, bad),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    table = create(tmp_path_factory.mktemp("calls") / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 10)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 11)]), "upsert", SMALL_BLOOM)
    return table


@pytest.mark.parametrize("name", CALLS)
def test_garbage_is_a_hoodie_error(spark, table, name):
    for bad in GARBAGE:
        try:
            CALLS[name](spark, table.base_path, bad)
        except HoodieError as error:
            assert str(error).startswith(error.what[:20])  # noqa: PT017


def test_garbage_leaves_the_table_as_it_was(table):
    assert content(table) == {"a": ("p", 2, 11)}


def test_what_is_wrong_is_named(spark, table, monkeypatch):
    with pytest.raises(ArgumentError, match=r"'df'.*\[1\] \(list\).*HoodieTable\.write"):
        hoodie.spark.write([1], table.base_path)
    with pytest.raises(ArgumentError, match=r"'spark'.*None.*SparkSession"):
        hoodie.spark.read(None, table.base_path)
    with pytest.raises(ArgumentError, match=r"'build'.*a function of a DataFrame"):
        hoodie.spark.query(spark, table.base_path, "select 1")
    with pytest.raises(TableNotFoundError):
        hoodie.spark.explain(spark, f"{table.base_path}/nothing")
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)
    with pytest.raises(ArgumentError, match=r"was stopped.*getOrCreate"):
        hoodie.spark.read(spark, table.base_path)


def test_what_spark_raises_has_its_cause(spark, table):
    with pytest.raises(EngineError, match=r"planning a query.*nope.*nothing was changed") as caught:
        hoodie.spark.query(spark, table.base_path, lambda rows: rows.select("nope"))
    assert "AnalysisException" in type(caught.value.__cause__).__name__
    rows = spark.createDataFrame([("a", "p", 3, 0)], "id string, part string, ts long, value long")
    with pytest.raises(EngineError, match=r"writing a DataFrame.*DIVIDE_BY_ZERO.*nothing half done is visible"):
        hoodie.spark.write(rows.withColumn("value", f.expr("cast(1 / value as long)")), table.base_path)
    failing = f.udf(lambda _value: {}["of the user's own"], "long")
    with pytest.raises(EngineError, match=r"KeyError: \"of the user's own\""):
        hoodie.spark.write(rows.withColumn("value", failing("value")), table.base_path)
    assert content(table) == {"a": ("p", 2, 11)}
    with pytest.raises(ZeroDivisionError):  # a mistake in the user's own function
        hoodie.spark.query(spark, table.base_path, lambda rows: rows.limit(1 // 0))

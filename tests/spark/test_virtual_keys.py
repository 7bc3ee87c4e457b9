"""Tables with virtual keys on Spark: written by its workers, files without and with logs read by it."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie.model.meta_columns import META_COLUMNS
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.mark.spark
@pytest.mark.parametrize("populate", ["false", "true"])
def test_both_kinds_of_files_are_read_as_one(spark, tmp_path, populate):
    engine = hoodie.spark.SparkEngine(spark)
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.populate.meta.fields": populate}
    table = create(tmp_path / "t", engine=engine, **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)]), "insert", NO_SMALL_FILES)
    off = {**NO_SMALL_FILES, "hoodie.populate.meta.fields": "false"}
    table.write(batch([("a", "p", 2, 10), ("b", "p", 0, 0), ("d", "r", 1, 4)]), "upsert", off)
    expected = {"a": ("p", 2, 10), "b": ("p", 1, 2), "c": ("q", 1, 3), "d": ("r", 1, 4)}
    frame = hoodie.spark.read(spark, table.base_path)
    assert frame.columns == ["id", "part", "ts", "value"]
    assert {row["id"]: (row["part"], row["ts"], row["value"]) for row in frame.collect()} == expected == content(table)
    meta = hoodie.spark.read(spark, table.base_path, columns=[*META_COLUMNS, "id"]).collect()
    assert [row["id"] for row in meta if any(row[name] for name in META_COLUMNS)] == []
    assert sorted(row["id"] for row in meta) == sorted(expected)

"""Overwrites and drops leave the same on Spark as on threads."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie.engine import LocalEngine
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.spark

FIRST = [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1), ("d", "r", 1, 1)]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_same_rows(spark, tmp_path, kind):
    for name, engine in (("threads", LocalEngine(2)), ("spark", hoodie.spark.SparkEngine(spark))):
        table = create(tmp_path / name, engine=engine, **{"hoodie.table.type": kind})
        table.write(batch(FIRST), "insert", SMALL_BLOOM)
        done = table.write(batch([("x", "p", 2, 2), ("y", "s", 2, 2)]), "insert_overwrite", SMALL_BLOOM)
        assert done.groups_replaced == 1
        assert content(table) == {"c": ("q", 1, 1), "d": ("r", 1, 1), "x": ("p", 2, 2), "y": ("s", 2, 2)}
        table.write(batch([("c", "q", 0, 0)]), "delete_partition")
        table.delete_partitions(["part=s"])
        assert sorted(content(table)) == ["d", "x"]
        table.write(batch([("z", "r", 3, 3)]), "insert_overwrite_table", SMALL_BLOOM)
        assert content(table) == {"z": ("r", 3, 3)}


def test_a_dataframe_overwrites(spark, tmp_path):
    table = create(tmp_path / "t", engine=hoodie.spark.SparkEngine(spark))
    table.write(batch(FIRST), "insert", SMALL_BLOOM)
    frame = spark.createDataFrame([("x", "p", 2, 2)], "id string, part string, ts long, value long")
    hoodie.spark.write(frame, table.base_path, "insert_overwrite")
    assert sorted(content(table)) == ["c", "d", "x"]

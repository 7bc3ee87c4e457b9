"""Indexes find on Spark what they find on threads."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie.engine import LocalEngine
from tests.support.matrix import diagonal, sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("index", "kind"), diagonal(["GLOBAL_SIMPLE", "GLOBAL_BLOOM"], ["MERGE_ON_READ", "COPY_ON_WRITE"])
)
def test_keys_move(spark, tmp_path, kind, index):
    options = {**SMALL_BLOOM, "hoodie.index.type": index}
    for name, engine in (("threads", LocalEngine(2)), ("spark", hoodie.spark.SparkEngine(spark))):
        table = create(tmp_path / name, engine=engine, **{"hoodie.table.type": kind})
        table.write(batch([(f"k{i}", "pq"[i % 2], 10, 1) for i in range(50)]), "upsert", options)
        done = table.write(batch([(f"k{i}", "r", 5 + i, 2) for i in range(10)]), "upsert", options)
        assert (done.rows_deleted, done.rows_inserted) == (5, 5)
        found = content(table)
        assert sorted(key for key, row in found.items() if row[0] == "r") == [f"k{i}" for i in range(5, 10)]
        assert len(found) == 50
        table.write(batch([(f"k{i}", "x", 0, 0) for i in range(50)]), "delete", options)
        assert content(table) == {}


@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_buckets(spark, tmp_path, kind):
    options = {**SMALL_BLOOM, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 3}
    table = create(tmp_path / "t", engine=hoodie.spark.SparkEngine(spark), **{"hoodie.table.type": kind})
    for number, operation in enumerate(["bulk_insert", "upsert", "insert", "upsert"]):
        table.write(batch([(f"k{i}", "p", number, number) for i in range(10 * (number + 1))][-20:]), operation, options)
    found = table.read(columns=["id", "_hoodie_file_name"]).to_pylist()
    assert len({row["id"] for row in found}) == 40
    assert sorted({row["_hoodie_file_name"][:8] for row in found}) == ["00000000", "00000001", "00000002"]

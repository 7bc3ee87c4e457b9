"""Clustering on a Spark session."""

from __future__ import annotations

import pytest

import hoodie.spark
from hoodie import CLUSTERING
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("layout", sample(["linear", "hilbert"], 1))
def test_a_clustering_on_spark(spark, tmp_path, layout):
    table = create(tmp_path / "t", engine=hoodie.spark.SparkEngine(spark), **{"hoodie.table.type": "MERGE_ON_READ"})
    small = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    for number in range(3):
        table.write(batch([(f"{part}{number}", part, 1, 9 - number) for part in "pq"]), "insert", small)
    table.write(batch([("p1", "p", 2, 2)]), "upsert", small)
    before = content(table)
    order = {
        "hoodie.clustering.plan.strategy.sort.columns": "value,ts",
        "hoodie.layout.optimize.strategy": layout,
        "hoodie.layout.optimize.curve.build.method": "sample",
    }
    table.schedule(CLUSTERING, order, force=True)
    (done,) = table.run(CLUSTERING, SMALL_BLOOM)
    assert sorted(stat.num_writes for stat in done.metadata.stats) == [3, 3]
    assert content(table) == before
    assert [len(each.log_files) for each in table.file_slices()] == [0, 0]

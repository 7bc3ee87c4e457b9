"""DataFrames with the options that people give to Hudi's data source."""

from __future__ import annotations

import hoodie.spark
from tests.support.tables import SMALL_BLOOM, batch, content, create


def test_options_of_the_data_source_and_a_clean_after_the_commit(spark, tmp_path):
    table = create(tmp_path / "t")
    options = {
        **SMALL_BLOOM,
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.clean.automatic": "true",
        "hoodie.cleaner.commits.retained": "1",
        "hoodie.metrics.on": "false",
    }
    for step in (1, 2, 3):
        frame = spark.createDataFrame(batch([("a", "p", step, step)]).to_pandas())
        result = hoodie.spark.write(frame, table.base_path, options=options)
    assert [(each.service, each.failed) for each in result.services] == [("clean", False)]
    assert list(table.timeline)[-1].action == "clean"
    assert len(list((tmp_path / "t").rglob("*.parquet"))) == 2, "the slice of the first commit is gone"
    assert content(table) == {"a": ("p", 3, 3)}

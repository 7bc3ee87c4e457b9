"""A query on Spark with what each service of this project does on it: rows of Arrow through Python workers, and back."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from hoodie.spark import session_options


def main() -> None:
    builder = SparkSession.builder.appName("sample query").config("spark.ui.enabled", "false")
    for key, value in session_options().items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    rows = session.createDataFrame(pa.table({"id": ["a", "b"], "number": [1, 2]}))
    rows.repartition(2, "id").mapInArrow(_same, rows.schema).toArrow()
    rows.filter("number > 1").groupBy("id").count().collect()
    session.stop()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


if __name__ == "__main__":
    main()

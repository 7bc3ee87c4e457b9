"""DataFrames in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from hoodie.read.plan import plan_read
from hoodie.schema import with_meta_columns
from hoodie.spark.engine import SparkEngine
from hoodie.table import HoodieTable
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteResult


def write(
    df: DataFrame, base_path: str, operation: str = "upsert", options: Mapping[str, object] | None = None
) -> WriteResult:
    """Write a DataFrame to the table at `base_path`, as HoodieTable.write does."""
    table = HoodieTable.open(base_path, engine=SparkEngine(df.sparkSession))
    return table.write(df, operation, options, schema=to_arrow_schema(df.schema))


def read(
    spark: SparkSession,
    base_path: str,
    columns: Sequence[str] | None = None,
    as_of: str | datetime | None = None,
    partitions: Sequence[str] | None = None,
) -> DataFrame:
    """A snapshot as a DataFrame, with the meta columns first unless `columns` names others.

    The files are scanned by Spark's own vectorised reader: filters and columns of the query reach them. `partitions` are
    partition paths.
    """
    table = HoodieTable.open(base_path)
    state = table.state()
    plan = plan_read(state, [], as_of=as_of, partitions=partitions)
    schema = with_meta_columns(table_schema(state) or pa.schema([]))
    paths = [f"{state.storage.base_path}/{s.base_file.path}" for s in plan.slices if s.base_file is not None]
    spark_schema = from_arrow_schema(schema)
    frame = spark.read.schema(spark_schema).parquet(*paths) if paths else spark.createDataFrame([], spark_schema)
    return frame.select(*columns) if columns else frame


def session_options() -> dict[str, Any]:
    """Spark settings that the library wants: Arrow batches large enough for its kernels, and no UTC shift of timestamps."""
    return {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.worker.reuse": "true",
    }

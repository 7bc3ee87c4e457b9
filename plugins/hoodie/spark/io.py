"""DataFrames in and out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from hoodie.model.files import FileSlice
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import plan_read
from hoodie.schema import with_meta_columns
from hoodie.spark.engine import SparkEngine
from hoodie.spark.worker import worker_task
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
    read_optimized: bool = False,
    options: Mapping[str, object] | None = None,
) -> DataFrame:
    """A snapshot as a DataFrame, with the meta columns first unless `columns` names others.

    Slices without logs are scanned by Spark's own vectorised reader: filters and columns of the query reach them. Slices with
    logs, and skeletons of a bootstrap, are read by Python workers on Arrow columns: `columns` and those that merging needs.
    `partitions` are partition paths.
    """
    table = HoodieTable.open(base_path)
    state = table.state()
    schema = with_meta_columns(table_schema(state) or pa.schema([]))
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns if name in schema.names])
    plan = plan_read(
        state,
        columns or schema.names,
        as_of=as_of,
        partitions=partitions,
        read_optimized=read_optimized,
        options=options,
    )
    merged = [file_slice for file_slice in plan.slices if _needs_merging(file_slice)]
    paths = [
        f"{state.storage.base_path}/{file_slice.base_file.path}"
        for file_slice in plan.slices
        if file_slice.base_file is not None and not _needs_merging(file_slice)
    ]
    frames = []
    if paths:
        frames.append(spark.read.schema(from_arrow_schema(schema)).parquet(*paths).select(*wanted.names))
    if merged:
        work = MergedSlices(ReadSlice(state.storage, replace(plan, slices=())), tuple(merged))
        numbers = spark.range(0, len(merged), 1, len(merged))
        frames.append(numbers.mapInArrow(work, from_arrow_schema(wanted)))
    if not frames:
        return spark.createDataFrame([], from_arrow_schema(wanted))
    return reduce(DataFrame.unionByName, frames)


def _needs_merging(file_slice: FileSlice) -> bool:
    """Its rows are in more than one file."""
    base = file_slice.base_file
    return bool(file_slice.log_files) or (base is not None and base.source is not None)


@dataclass(frozen=True)
class MergedSlices:
    """Function of `mapInArrow`: numbers of slices -> their merged rows."""

    read: ReadSlice
    slices: tuple[FileSlice, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            for batch in batches:
                for number in batch.column(0).to_pylist():  # one or two numbers
                    for rows in self.read.batches(self.slices[number]):
                        yield from rows.to_batches()


def session_options() -> dict[str, Any]:
    """Spark settings that the library wants: Arrow batches large enough for its kernels, no UTC shift of timestamps, and workers
    that are kept and reached without the delays of TCP."""
    return {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.worker.reuse": "true",
        "spark.python.unix.domain.socket.enabled": "true",
    }

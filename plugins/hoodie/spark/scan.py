"""A read plan as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.model.files import FileSlice
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan
from hoodie.spark.worker import worker_task
from hoodie.storage.base import Storage


def scan(spark: SparkSession, storage: Storage, plan: ReadPlan, rows: Column | None = None) -> DataFrame:
    """The rows of a plan; `rows` is the plan's filter as Spark says it.

    Slices whose rows are in one file are scanned by Spark's own vectorised reader; slices with logs, and skeletons of a
    bootstrap, are read by Python workers on Arrow columns.
    """
    merged = tuple(file_slice for file_slice in plan.slices if _needs_merging(file_slice))
    paths = [
        f"{storage.base_path}/{file_slice.base_file.path}"
        for file_slice in plan.slices
        if file_slice.base_file is not None and not _needs_merging(file_slice)
    ]
    frames = []
    if paths:
        scanned = spark.read.schema(from_arrow_schema(plan.scanned)).parquet(*paths)
        frames.append((scanned if rows is None else scanned.where(rows)).select(*plan.schema.names))
    if merged:
        work = MergedSlices(ReadSlice(storage, replace(plan, slices=())), merged)
        numbers = spark.range(0, len(merged), 1, len(merged))
        frames.append(numbers.mapInArrow(work, from_arrow_schema(plan.schema)))
    if not frames:
        return spark.createDataFrame([], from_arrow_schema(plan.schema))
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

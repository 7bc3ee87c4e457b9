"""A read plan as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.engine.pack import packed
from hoodie.model.files import FileSlice
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan
from hoodie.spark.worker import worker_task
from hoodie.storage.base import Storage

_TASK_BYTES = 128 << 20  # default of spark.sql.files.maxPartitionBytes


def scan(spark: SparkSession, storage: Storage, plan: ReadPlan, rows: Column | None = None) -> DataFrame:
    """The rows of a plan; `rows` is the plan's filter as Spark says it.

    Slices whose rows are in one file are scanned by Spark's own vectorised reader; slices with logs, and skeletons of a
    bootstrap, are read by Python workers on Arrow columns. These read every slice when there is a filter without `rows`.
    """
    spark_can = plan.filter is None or rows is not None
    worked = tuple(each for each in plan.slices if not spark_can or _needs_merging(each))
    paths = [
        f"{storage.base_path}/{each.base_file.path}"
        for each in plan.slices
        if spark_can and each.base_file is not None and not _needs_merging(each)
    ]
    frames = []
    if paths:
        columns = [col(name) if name in plan.scanned.names else _nothing(name) for name in plan.schema.names]
        scanned = spark.read.schema(from_arrow_schema(plan.scanned)).parquet(*paths)
        frames.append((scanned if rows is None else scanned.where(rows)).select(*columns))
    if worked:
        tasks = _tasks(worked, spark.sparkContext.defaultParallelism)
        work = WorkedSlices(ReadSlice(storage, replace(plan, slices=())), tasks)
        numbers = spark.range(0, len(tasks), 1, len(tasks))
        frames.append(numbers.mapInArrow(work, from_arrow_schema(plan.schema)))
    if not frames:
        return spark.createDataFrame([], from_arrow_schema(plan.schema))
    return reduce(DataFrame.unionByName, frames)


def _nothing(name: str) -> Column:
    """A meta column of a table with virtual keys."""
    return lit(None).cast("string").alias(name)


def _needs_merging(file_slice: FileSlice) -> bool:
    """Its rows are in more than one file."""
    base = file_slice.base_file
    return bool(file_slice.log_files) or (base is not None and base.source is not None)


def _tasks(slices: Sequence[FileSlice], cores: int) -> tuple[tuple[FileSlice, ...], ...]:
    """The slices of each task, about equal in bytes: a task for each core, and more of them as Spark cuts files."""
    count = max(cores, sum(each.size for each in slices) // _TASK_BYTES)
    return packed(slices, count, lambda each: each.size)


@dataclass(frozen=True)
class WorkedSlices:
    """Function of `mapInArrow`: numbers of tasks -> the rows of their slices."""

    read: ReadSlice
    tasks: tuple[tuple[FileSlice, ...], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            for batch in batches:
                for number in batch.column(0).to_pylist():  # one number
                    for file_slice in self.tasks[number]:
                        for rows in self.read.batches(file_slice):
                            yield from rows.to_batches()

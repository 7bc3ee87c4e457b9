"""A read plan as a DataFrame, and who reads what of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.engine.pack import packed
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.read.execute import ReadSlice
from hoodie.read.incremental import IncrementalRange
from hoodie.read.plan import ReadPlan
from hoodie.spark.hadoop import readable_url
from hoodie.spark.worker import worker_task
from hoodie.storage.base import Storage

_PATTERN = re.compile(r"[\[\]{}*?\\]")  # Spark takes names with one of these for several files
_MOST = 0.5  # share of rows: handing all rows of a file to the JVM takes longer than decoding them there
_VERIFIED = "parquet.page.verify-checksum.enabled"  # a damaged page may become other values
_IGNORING = ("ignoreMissingFiles", "ignoreCorruptFiles")  # a session may have them on, and rows would go in silence
_TASK_BYTES = 128 << 20  # default of spark.sql.files.maxPartitionBytes


@dataclass(frozen=True)
class Scan:
    """A read plan shared out: slices whose rows are in one file go to Spark's own vectorised reader; slices with logs, and
    skeletons of a bootstrap, to Python workers on Arrow columns, which also read what Spark cannot: files that no file system
    of its Hadoop reaches, and rows whose filter is still to be checked."""

    storage: Storage
    plan: ReadPlan
    rows: Column | None  # the plan's filter as Spark says it
    url: str | None  # the table's as Spark's Hadoop takes it; None: it has no file system for it
    by_spark: tuple[FileSlice, ...]
    by_workers: tuple[FileSlice, ...]

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows."""
        plan = self.plan
        frames = []
        if self.by_spark:
            columns = [col(name) if name in plan.scanned.names else _nothing(name) for name in plan.schema.names]
            paths = [
                f"{self.url}/{file_slice.base_file.path}"
                for file_slice in self.by_spark
                if file_slice.base_file is not None
            ]
            reader = spark.read.schema(from_arrow_schema(plan.scanned)).option(_VERIFIED, value=True)
            for option in _IGNORING:
                reader = reader.option(option, value=False)
            scanned = reader.parquet(*paths)
            frames.append((scanned if self.rows is None else scanned.where(self.rows)).select(*columns))
        if self.by_workers:
            tasks = tasks_of(self.by_workers, spark.sparkContext.defaultParallelism)
            work = WorkedSlices(ReadSlice(self.storage, plan.of_slice), tasks)
            numbers = spark.range(0, len(tasks), 1, len(tasks))
            frames.append(numbers.mapInArrow(work, from_arrow_schema(plan.schema)))
        if not frames:
            return spark.createDataFrame([], from_arrow_schema(plan.schema))
        return reduce(DataFrame.unionByName, frames)

    def explain(self) -> str:
        """The plan in words: its files, and their readers."""
        merged = sum(map(_needs_merging, self.by_workers))
        reasons = [f"{merged} whose rows are in several files"] if merged else []
        if merged < len(self.by_workers):
            others = len(self.by_workers) - merged
            why = "the filter is asked of their rows, their columns have other names, or their names are patterns to Spark"
            reasons.append(f"{others} because {why if self.url else f'Spark has no file system for {self._where}'}")
        return (
            f"{self.plan.explain()}\n"
            f"scanned by Spark from {self._where}: {len(self.by_spark)} file slices\n"
            f"read by Python workers: {len(self.by_workers)} file slices{': ' if reasons else ''}{', '.join(reasons)}"
        )

    @property
    def _where(self) -> str:
        return self.url or self.storage.base_path


def plan_scan(spark: SparkSession, storage: Storage, plan: ReadPlan) -> Scan:
    """Choose the reader of each slice of a plan."""
    url = readable_url(spark, storage.base_path)
    rows = _written(plan.written)
    settled = plan.settled() if rows is None else frozenset()
    spark_can = url is not None and not _PATTERN.search(url)
    filtered = plan.filter is not None and rows is None
    by_spark: list[FileSlice] = []
    by_workers: list[FileSlice] = []
    for file_slice in plan.slices:
        all_rows_pass = not filtered or file_slice.partition in settled
        spark_does = (
            spark_can and all_rows_pass and not _needs_merging(file_slice) and not _PATTERN.search(file_slice.partition)
        )
        spark_does = spark_does and not _called_otherwise(plan, file_slice)
        (by_spark if spark_does else by_workers).append(file_slice)
    return Scan(storage, plan, rows, url, tuple(by_spark), tuple(by_workers))


def _written(commit_range: IncrementalRange | None) -> Column | None:
    """The range of an incremental read as Spark says it, where the commits wrote most of the rows of their files (a bulk insert
    does)."""
    if commit_range is None or commit_range.share <= _MOST:
        return None
    time = col(COMMIT_TIME)
    if commit_range.commits is not None:
        return time.isin(list(commit_range.commits))
    return (
        time > commit_range.after
        if commit_range.until is None
        else (time > commit_range.after) & (time <= commit_range.until)
    )


def _nothing(name: str) -> Column:
    """A meta column of a table with virtual keys."""
    return lit(None).cast("string").alias(name)


def _called_otherwise(plan: ReadPlan, file_slice: FileSlice) -> bool:
    """Its base file has other names or types for columns, which Spark would look for by those of now."""
    base = file_slice.base_file
    return base is not None and plan.columns.in_file(base.instant).changes


def _needs_merging(file_slice: FileSlice) -> bool:
    """Its rows are in more than one file."""
    base = file_slice.base_file
    return bool(file_slice.log_files) or (base is not None and base.source is not None)


def tasks_of(slices: Sequence[FileSlice], cores: int) -> tuple[tuple[FileSlice, ...], ...]:
    """The slices of each task, about equal in bytes: a task for each core, and more of them as Spark cuts files."""
    count = max(cores, sum(file_slice.size for file_slice in slices) // _TASK_BYTES)
    return packed(slices, count, lambda file_slice: file_slice.size)


@dataclass(frozen=True)
class WorkedSlices:
    """Function of `mapInArrow`: numbers of tasks -> the rows of their slices."""

    read: ReadSlice
    tasks: tuple[tuple[FileSlice, ...], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self.rows(batch.column(0).to_pylist())  # one number

    def rows(self, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The rows of the slices of some tasks."""
        with worker_task():
            for number in numbers:
                for file_slice in self.tasks[number]:
                    for rows in self.read.batches(file_slice):
                        yield from rows.to_batches()

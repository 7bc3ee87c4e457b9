"""The changes of a table as a DataFrame: Python workers compare the file slices, so the rows never reach the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from hoodie.changes import ChangeQuery, ChangeStream, open_changes
from hoodie.changes.plan import GroupChange
from hoodie.changes.query import keyed_schema
from hoodie.changes.slices import ReadGroupChanges
from hoodie.changes.summary import NetChanges
from hoodie.config import given_options
from hoodie.engine import LocalEngine
from hoodie.engine.pack import packed
from hoodie.model.changes import COMPLETION_TIME, OP
from hoodie.model.meta_columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY
from hoodie.read.filters import Filter
from hoodie.spark.error_boundary import check_session, spark_call
from hoodie.spark.worker import worker_task
from hoodie.storage import BasePath
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.view.missing_files import retried_when_missing

_ORDER = (PARTITION_PATH, RECORD_KEY, COMPLETION_TIME, COMMIT_TIME, OP)  # `d` comes before `i`, as in a commit


@spark_call("reading changes")
def read_changes(
    spark: SparkSession,
    base_path: BasePath,
    start: str | datetime | None = None,
    end: str | datetime | None = None,
    *,
    columns: Sequence[str] | None = None,
    filter: Filter | None = None,
    net: bool = False,
    options: Mapping[str, object] | None = None,
) -> DataFrame:
    """Return the changes of `HoodieTable.read_changes` as a DataFrame, and with its errors.

    A DataFrame has no order: `orderBy("_hoodie_completion_time", "op")` is one in which changes can be applied by key. With `net`
    Spark shuffles the changes by key. Each task holds the rows of one file group before and after a commit; with `net` all
    changes of its share of the keys. Spark raises what fails when the DataFrame is run.
    """
    check_session(spark)
    query = ChangeQuery(start, end, columns, filter, net, given_options(options))
    return _planned(HoodieTable.open(base_path).state(), spark, query)


@retried_when_missing
def _planned(state: TableState, spark: SparkSession, query: ChangeQuery) -> DataFrame:
    return changes_frame(spark, open_changes(state, query, LocalEngine(1)))


def changes_frame(spark: SparkSession, stream: ChangeStream) -> DataFrame:
    """The changes of a stream. Raises what the planning of them raises: ChangeRangeError, MissingFileError."""
    tasks = change_tasks(stream, spark.sparkContext.defaultParallelism)
    if not tasks:
        return spark.createDataFrame([], spark_columns(stream.schema))
    schema = spark_columns(keyed_schema(stream.task.images))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    frame = numbers.mapInArrow(ChangesOfTasks(stream.task, tasks), schema)
    if stream.net is not None:
        by_key = frame.repartition(PARTITION_PATH, RECORD_KEY).sortWithinPartitions(*_ORDER)
        frame = by_key.mapInArrow(NetOfKeys(stream.net), spark_columns(keyed_schema(stream.net.images)))
    return frame.select(*stream.schema.names)


def spark_columns(schema: pa.Schema) -> StructType:
    """The columns of changes as Spark has them. All are nullable, also inside of structs: a required field of a row is null in
    an image that is null, and Arrow refuses to cast such an image."""
    return from_arrow_schema(schema).toNullable()


def change_tasks(stream: ChangeStream, count: int) -> tuple[tuple[GroupChange, ...], ...]:
    """The file groups of the commits of a range, for `count` tasks or fewer, about equal in bytes."""
    changes = [change for commit in stream.plan.range.commits for change in stream.plan.of(commit)]
    return packed(changes, count, lambda change: change.size)


@dataclass(frozen=True)
class ChangesOfTasks:
    """Function of `mapInArrow`: numbers of tasks -> the changes in their file groups, with the columns of `keyed_schema`."""

    read: ReadGroupChanges
    tasks: tuple[tuple[GroupChange, ...], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self.batches(batch.column(0).to_pylist())  # one number

    def batches(self, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The changes of some tasks."""
        with worker_task():
            for number in numbers:
                for change in self.tasks[number]:
                    changes = self.read(change)
                    for table in (changes.deletes, changes.others):
                        yield from table.to_batches()


@dataclass(frozen=True)
class NetOfKeys:
    """Function of `mapInArrow`: all changes of some keys, ordered -> one change for each row."""

    net: NetChanges

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            changes = list(batches)
            if changes:
                yield from self.net(pa.Table.from_batches(changes).combine_chunks()).to_batches()

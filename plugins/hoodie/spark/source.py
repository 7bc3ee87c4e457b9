"""`spark.read.format("hoodie")`: a table as a data source of Spark, for sessions without Hudi's bundle.

Spark makes the source in a process of its own, asks it for the columns, and sends it on as it is then, pickled, to the process
that plans a scan; so every scan of a DataFrame reads the table as it was when the DataFrame was made. Python workers read all
slices: Spark gives a source of Python neither the columns that a query needs nor a way to its own reader, and mixes up conditions
(see `SourceReader`). `hoodie.spark.read` and `hoodie.spark.query` have all three.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict, DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from hoodie.changes import ChangeQuery, ChangeStream, open_changes
from hoodie.engine import LocalEngine
from hoodie.error_boundary import call
from hoodie.errors import ConfigError, HoodieError, SchemaConflictError
from hoodie.read.execute import ReadSlice
from hoodie.read.query import Query
from hoodie.read.snapshot import of_snapshot, plan_snapshot
from hoodie.spark.changes import ChangesOfTasks, change_tasks, spark_columns
from hoodie.spark.error_boundary import check_session
from hoodie.spark.scan import WorkedSlices, tasks_of
from hoodie.spark.sink import Sink
from hoodie.spark.sink_options import WriteRequest
from hoodie.spark.source_options import NO_PATH, PATH, asked_of
from hoodie.spark.stream.columns import stream_columns
from hoodie.spark.stream.options import is_stream, stream_options
from hoodie.spark.stream.reader import StreamReader
from hoodie.spark.stream.sink_options import SinkRequest
from hoodie.spark.stream.writer import StreamWriter
from hoodie.spark.write_server import server_of
from hoodie.table import HoodieTable
from hoodie.view import TableState

NAME = "hoodie"

_TASKS = (
    32  # where the cores cannot be asked: some for each of many, and few enough that one core loses nothing by them
)


def register(spark: SparkSession) -> None:
    """Make `format("hoodie")` known to a session.

    The session becomes the active one of the calling thread. Spark finds sources of Python by that alone: call it in each thread
    that names the format.

    Raises ArgumentError for what is not a session that runs.
    """
    check_session(spark)
    of_java: Any = spark._get_j_spark_session_class(spark._jvm)
    of_java.setActiveSession(spark._jsparkSession)
    address = server_of(spark).address

    class Registered(HoodieSource):  # not to be imported, so it goes to Spark's other processes with all that it has
        writes_at = address

    spark.dataSource.register(Registered)


class HoodieSource(DataSource):  # type: ignore[misc]
    """See the module; options are those of `hoodie.spark.source_options`, and of a write those of `hoodie.spark.sink_options`."""

    writes_at = ""
    """The session's process carries out writes at this address."""

    def __init__(self, options: dict[str, str]) -> None:
        self._read_options = dict(CaseInsensitiveDict(options))
        self._opened = _open(self._read_options.get(PATH))
        self._run = uuid.uuid4().hex  # Spark makes one source for a run of a streaming query

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        """Spark does not say whether a batch or a stream is asked for. Options that only one of them takes decide."""
        if is_stream(self._read_options):
            with call("starting a stream"):
                return stream_columns(self._state, stream_options(self._read_options))
        state, query = self._read()
        with call("planning a read"):
            if isinstance(query, ChangeQuery):
                return spark_columns(_changes(state, query).schema)
            return from_arrow_schema(plan_snapshot(state, query).schema)

    def reader(self, schema: StructType) -> SourceReader | ChangeReader:
        """`schema` is what `schema` gave, or the columns that the user named with their types."""
        state, query = self._read()
        if isinstance(query, ChangeQuery):
            return ChangeReader(state, query, schema)
        return SourceReader(state, replace(query, columns=schema.fieldNames()), schema)

    def writer(self, schema: StructType, overwrite: bool) -> Sink:
        """Raises what keeps the rows from being written, as far as that is known before there are any."""
        return Sink(WriteRequest.of(self._read_options, overwrite), schema, self.writes_at)

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802, Spark calls it so
        """Raises ConfigError for options that a stream does not have."""
        return StreamReader(stream_options(self._read_options), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: N802, Spark calls it so
        """Raises ConfigError for options that a sink does not have. Each batch of a stream is a write; to overwrite is the output
        mode `complete`."""
        return StreamWriter(SinkRequest.of(self._read_options, overwrite), schema, self.writes_at, self._run)

    @property
    def _state(self) -> TableState:
        """The table as it was found. Raises what keeps it from being read."""
        if isinstance(self._opened, HoodieError):
            raise self._opened
        return self._opened

    def _read(self) -> tuple[TableState, Query | ChangeQuery]:
        state, request = self._state, asked_of(self._read_options)
        if isinstance(request.kind, ChangeQuery):
            return state, request.kind
        return state, Query(None, None, request.kind, options=request.options, meta_columns=True)


def _open(path: str | None) -> TableState | HoodieError:
    """The table as it is now, before it is known whether it is to be read, or what keeps it from being read: a write may create
    it."""
    try:
        if not path:
            raise ConfigError(
                f"A read of format {NAME} has no path", fix=NO_PATH.format(verb="load", statement="SELECT … FROM")
            )
        with call("planning a read"):
            return HoodieTable.open(path).state()
    except HoodieError as error:
        return error


class SourceReader(DataSourceReader):  # type: ignore[misc]
    """The rows of a table as batches of Arrow.

    It has no `pushFilters`: Spark 4.2 keeps what a reader answers to the conditions of one query for all queries of the
    DataFrame, and for the other side of a union. Rows that the first query did not need would be missing from the others.
    """

    def __init__(self, state: TableState, query: Query, schema: StructType) -> None:
        self._state = state
        self._query = query
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Each brings along all that its task needs: Spark sends the reader to the workers as it is before this is called."""
        with call("planning a read"):
            plan = plan_snapshot(self._state, self._query)
            _check_types(from_arrow_schema(plan.schema), self._schema)
        read = ReadSlice(self._state.storage, plan.of_slice)
        return [InputPartition(WorkedSlices(read, (slices,))) for slices in tasks_of(plan.slices, _TASKS)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Spark checks the types of a task's first batch alone, and reads the memory of all by them."""
        work: WorkedSlices | None = partition.value
        if work is None:  # Spark's way to say that there are none
            return
        schema = to_arrow_schema(self._schema, timezone="UTC")
        for rows in work.rows((0,)):
            yield rows.cast(schema)


class ChangeReader(DataSourceReader):  # type: ignore[misc]
    """The changes of a table as batches of Arrow."""

    def __init__(self, state: TableState, query: ChangeQuery, schema: StructType) -> None:
        self._state = state
        self._query = query
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Some file groups for each task. Raises ChangeRangeError when files of the range were cleaned."""
        with call("planning a read"), of_snapshot(self._state):
            stream = _changes(self._state, self._query)
            _check_types(spark_columns(stream.schema), self._schema)
            return [InputPartition(ChangesOfTasks(stream.task, (changes,))) for changes in change_tasks(stream, _TASKS)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """As `SourceReader.read`."""
        work: ChangesOfTasks | None = partition.value
        if work is None:
            return
        schema = to_arrow_schema(self._schema, timezone="UTC")
        for changes in work.batches((0,)):
            yield changes.select(schema.names).cast(schema)


def _changes(state: TableState, query: ChangeQuery) -> ChangeStream:
    return open_changes(state, query, LocalEngine(1))  # its tasks run in Spark


def _check_types(stored: StructType, schema: StructType) -> None:
    """Raises SchemaConflictError where the user says another type for a column than the table has, and for an unknown one."""
    for field in schema:
        if field.name not in stored.names:
            raise SchemaConflictError(
                f"There is no column {field.name}",
                found=f"columns {', '.join(stored.names)}",
                fix="name some of these, or leave the schema out",
            )
        has = stored[field.name].dataType
        if has != field.dataType:
            raise SchemaConflictError(
                f"Column {field.name} is asked for as {field.dataType.simpleString()}",
                found=f"{has.simpleString()} in the table",
                fix="name it with the table's type, and cast it in the query",
            )

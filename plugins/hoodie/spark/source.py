"""`spark.read.format("hoodie")`: a table as a data source of Spark, for sessions without Hudi's bundle.

Spark makes the source in a process of its own, asks it for the columns, and sends it on as it is then, pickled, to whoever plans
a scan; so every scan of a DataFrame reads the table as it was when the DataFrame was made. Python workers read all slices: Spark
tells a source of Python neither the columns that a query needs nor a way to its own reader. `hoodie.spark.read` and
`hoodie.spark.query` have both.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict, DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from hoodie.calls import call
from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan, plan_read
from hoodie.read.query import Query
from hoodie.spark.asked import PATH, asked_of
from hoodie.spark.calls import check_session
from hoodie.spark.conditions import of_source
from hoodie.spark.scan import WorkedSlices, tasks_of
from hoodie.table import HoodieTable
from hoodie.view import TableState

NAME = "hoodie"

_PUSHED = "spark.sql.python.filterPushdown.enabled"
_TASKS = (
    32  # where the cores cannot be asked: some for each of many, and few enough that one core loses nothing by them
)


def register(spark: SparkSession) -> None:
    """Make `format("hoodie")` known to a session, and have Spark hand its conditions to sources of Python.

    Conditions of a query that mean the same to Arrow leave out partitions, row groups and rows (see
    `hoodie.spark.conditions`). Raises ArgumentError for what is no session that runs.
    """
    check_session(spark)
    spark.conf.set(_PUSHED, "true")
    spark.dataSource.register(HoodieSource)


class HoodieSource(DataSource):  # type: ignore[misc]
    """See the module; options are those of `hoodie.spark.asked`."""

    def __init__(self, options: dict[str, str]) -> None:
        given = dict(CaseInsensitiveDict(options))
        if not given.get(PATH):
            raise ConfigError(f"A read of format {NAME} has no path", fix='name the table: load("/data/lake/orders")')
        asked = asked_of(given)
        with call("planning a read"):
            self._state = HoodieTable.open(given[PATH]).state()
        self._query = Query(None, None, asked.kind, options=asked.options, meta_columns=True)

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        with call("planning a read"):
            return from_arrow_schema(plan_read(self._state, self._query).schema)

    def reader(self, schema: StructType) -> SourceReader:
        """`schema` is what `schema` gave, or the columns that the user named with their types."""
        return SourceReader(self._state, replace(self._query, columns=schema.fieldNames()), schema)

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Raises ConfigError: tasks of a source of Python cannot hand rows to each other, as the rows of one key must be."""
        raise ConfigError(
            f"A table is not written by format {NAME}",
            fix="use hoodie.spark.write(df, path), or INSERT and MERGE by hoodie.sql",
        )


class SourceReader(DataSourceReader):  # type: ignore[misc]
    """The rows of a table as batches of Arrow."""

    def __init__(self, state: TableState, query: Query, schema: StructType) -> None:
        self._state = state
        self._query = query
        self._schema = schema

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802, Spark calls it so
        """All are asked by Spark again: those that are understood here only leave out what need not be read."""
        rules = [each.expression for each in map(of_source, filters) if each is not None]
        if rules:
            self._query = replace(self._query, filter=functools.reduce(operator.and_, rules))
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """Each brings along all that its task needs: Spark sends the reader to the workers as it is before this is called."""
        with call("planning a read"):
            plan = plan_read(self._state, self._query)
            _check_types(plan, self._schema)
        read = ReadSlice(self._state.storage, plan.of_slice)
        return [InputPartition(WorkedSlices(read, (slices,))) for slices in tasks_of(plan.slices, _TASKS)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Spark checks the types of a task's first batch alone, and reads the memory of all by them."""
        work: WorkedSlices | None = partition.value
        if work is None:  # Spark's way to say that there are none
            return
        wanted = to_arrow_schema(self._schema, timezone="UTC")
        for rows in work.rows((0,)):
            yield rows.cast(wanted)


def _check_types(plan: ReadPlan, schema: StructType) -> None:
    """Raises SchemaConflictError where the user says another type for a column than the table has."""
    stored = from_arrow_schema(plan.schema)
    for field in schema:
        has = stored[field.name].dataType
        if has != field.dataType:
            raise SchemaConflictError(
                f"Column {field.name} is asked for as {field.dataType.simpleString()}",
                found=f"{has.simpleString()} in the table",
                fix="name it with the table's type, and cast it in the query",
            )

"""Spark's SQL over tables of Hudi: each is read as the library reads it, by the columns and partitions that the query needs."""

from __future__ import annotations

import functools
import io
import itertools
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type
from sqlglot import exp

from hoodie.dataset import ChangeDataset, HoodieDataset
from hoodie.errors import SqlError
from hoodie.read.snapshot import of_snapshot, plan_snapshot
from hoodie.schema import top_level
from hoodie.spark import SparkEngine
from hoodie.spark.changes import changes_frame
from hoodie.spark.error_boundary import check_session
from hoodie.spark.failures import raised_errors
from hoodie.spark.required import Required, required_of_each
from hoodie.spark.scan import plan_scan
from hoodie.sql.engine import NamedSource, Source
from hoodie.sql.missing_columns import unknown_column
from hoodie.sql.names import renamed
from hoodie.sql.parse import DIALECT, Statement
from hoodie.sql.spark.failures import sql_errors
from hoodie.sql.spark.rows import FrameRows
from hoodie.view import TableState

_NUMBERS = itertools.count()


class SparkQueries:
    """A session of Spark, with its own tables and views. It stays the user's: closing a connection does not stop it."""

    name = "Spark"
    is_lasting = True

    def __init__(self, spark: SparkSession) -> None:
        """Raises ArgumentError for what is not a session that runs."""
        check_session(spark)
        self._spark = spark
        self.tasks = SparkEngine(spark)

    def query(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> FrameRows:
        """The rows of a query, which are computed when they are asked for. Raises SqlError for what Spark cannot do."""
        names = [f"__hoodie_{next(_NUMBERS)}" for _ in sources]
        marks = {id(node): name for (node, _), name in zip(sources, names, strict=True)}
        text = renamed(tree, marks).sql(dialect=DIALECT, normalize_functions=False)

        def built(frames: Sequence[DataFrame]) -> DataFrame:
            with self._views(names, frames):
                return self._spark.sql(text)

        with _column_errors(tree, sources), sql_errors(tree.sql(dialect=DIALECT)):
            needed = required_of_each(self._spark, [source.schema for _, source in sources], built)
            frames = [self._read(source, columns) for (_, source), columns in zip(sources, needed, strict=True)]
            return FrameRows(built(frames), tuple(state for _, source in sources for state in _states(source)))

    def explained(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> str:
        """Spark's plan of such a query. Raises SqlError for what Spark cannot do."""
        frame, plan = self.query(tree, sources).frame, io.StringIO()
        with redirect_stdout(plan):  # Spark has no other public way to it
            frame.explain("formatted")
        return plan.getvalue()

    def filtered(self, rows: pa.Table, condition: exp.Expression) -> pa.Table:
        """Those of `rows` for which a condition holds."""
        text = condition.sql(dialect=DIALECT)
        with sql_errors(text):
            return self._frame(rows).where(text).toArrow()

    def run(self, statement: Statement) -> pa.Table:
        """A statement that names no Hudi table, as it was written."""
        with sql_errors(statement.text), raised_errors():
            frame = self._spark.sql(statement.text, args=list(statement.parameters) or None)
            return frame.toArrow() if frame.columns else pa.table({})

    def has(self, name: str) -> bool:
        """Return whether the session has a table or view of this name."""
        return bool(self._spark.catalog.tableExists(_quoted(name)))

    def has_temporary(self, name: str) -> bool:
        """Return whether it has a temporary view of this name."""
        return self.has(name) and bool(self._spark.catalog.getTable(_quoted(name)).isTemporary)

    def close(self) -> None:
        """Nothing: views of statements are the session's."""

    def _frame(self, rows: pa.Table) -> DataFrame:
        """Rows that are here. Spark alone would take a time without a zone for a moment in the session's zone."""
        return self._spark.createDataFrame(rows, from_arrow_schema(rows.schema))

    def _read(self, source: Source, needed: Required) -> DataFrame:
        """The rows of a table, all of its columns, of which those that are not needed are null. Conditions on partition columns
        leave other partitions unlisted; the others are Spark's to ask."""
        if isinstance(source, pa.Table):
            return self._frame(source)
        if isinstance(source, FrameRows):
            return source.frame
        if isinstance(source, ChangeDataset):
            with of_snapshot(source.state):
                return changes_frame(self._spark, source.stream)
        assert isinstance(source, HoodieDataset), source
        dataset, schema = source, source.schema
        partitions = top_level(dataset.state.properties.partition_fields)
        rules: list[pc.Expression] = [
            condition.expression for condition in needed.conditions if condition.column in partitions
        ]
        columns = needed.columns or schema.names[:1]  # something has to count the rows
        query = replace(
            dataset.query,
            columns=columns,
            filter=functools.reduce(operator.and_, rules) if rules else None,
        )
        frame = plan_scan(self._spark, dataset.state.storage, plan_snapshot(dataset.state, query)).frame(self._spark)
        return frame.select(
            *(
                col(f.name) if f.name in columns else lit(None).cast(from_arrow_type(f.type)).alias(f.name)
                for f in schema
            )
        )

    @contextmanager
    def _views(self, names: Sequence[str], frames: Sequence[DataFrame]) -> Iterator[None]:
        """A query keeps what it was made of, so that its views can go as soon as it is made."""
        try:
            for name, frame in zip(names, frames, strict=True):
                frame.createOrReplaceTempView(name)
            yield
        finally:
            catalog: Any = self._spark.catalog
            for name in names:
                catalog.dropTempView(name)


@contextmanager
def _column_errors(tree: exp.Expression, sources: Sequence[NamedSource]) -> Iterator[None]:
    """Errors of a column that no table of the query has name the table, as those of DuckDB do: Spark names neither it nor all
    columns."""
    try:
        yield
    except SqlError as error:
        unknown = unknown_column(tree, [(table, source.schema.names) for table, source in sources])
        if unknown is None:
            raise
        raise unknown from error


def _states(source: Source) -> tuple[TableState, ...]:
    if isinstance(source, HoodieDataset | ChangeDataset):
        return (source.state,)
    return source.states if isinstance(source, FrameRows) else ()


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"

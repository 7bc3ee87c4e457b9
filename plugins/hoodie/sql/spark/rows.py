"""Rows of a query as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, first, lit, struct
from pyspark.sql.functions import count as count_rows
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type

from hoodie.read.snapshot import of_snapshot
from hoodie.spark.columns import arrow_schema
from hoodie.spark.failures import raised_errors
from hoodie.spark.worker import worker_task
from hoodie.sql.assignment import stored
from hoodie.sql.engine import Doubled
from hoodie.sql.row_keys import RowKeys
from hoodie.sql.spark.failures import sql_errors
from hoodie.sql.update_rows import Changes, changed
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.execute import WriteResult


@dataclass(frozen=True)
class FrameRows:
    """See `hoodie.sql.engine.Rows`. `states` are the tables that the query reads. Raises StaleSnapshotError when files of one of
    them are gone as the rows are computed."""

    frame: DataFrame
    states: tuple[TableState, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        return arrow_schema(self.frame)

    def fetched(self) -> pa.Table:
        with self._computed():
            return self.frame.toArrow()

    def selected(self, names: Sequence[str]) -> FrameRows:
        return replace(self, frame=self.frame.select(*(col(_quoted(name)) for name in names)))

    def stored(self, schema: pa.Schema, names: Sequence[str]) -> FrameRows:
        """Types that differ are brought into those of the table by the same function as in memory, in Spark's workers."""
        own_schema = self.schema
        target = stored(own_schema.empty_table(), schema, names).schema  # refused at once, and without a row
        same = all(field.type == target.field(name).type for field, name in zip(own_schema, names, strict=True))
        if not same:
            return self._mapped(target, partial(stored, schema=schema, names=names))
        place_of = {name: str(number) for number, name in enumerate(names)}
        columns = [
            (col(place_of[f.name]) if f.name in place_of else lit(None).cast(from_arrow_type(f.type))).alias(f.name)
            for f in target
        ]
        return replace(self, frame=self._numbered().select(*columns))

    def changed(self, changes: Changes) -> FrameRows:
        changed(self.schema.empty_table(), changes)  # refused at once, and without a row
        return self._mapped(changes.result, partial(changed, changes=changes))

    def keyed(self, keys: RowKeys, also: Sequence[str] = ()) -> FrameRows:
        needed = self.selected([*keys.columns, *also])
        work = partial(keys.keyed, also=tuple(also))
        return needed._mapped(work(needed.schema.empty_table()).schema, work)

    def marked(self, name: str) -> FrameRows:
        return replace(self, frame=self.frame.where(col(_quoted(name))))

    def _numbered(self) -> DataFrame:
        """A query may give a name twice."""
        return self.frame.toDF(*map(str, range(len(self.schema))))

    def _mapped(self, target: pa.Schema, work: Callable[[pa.Table], pa.Table]) -> FrameRows:
        mapped = self._numbered().mapInArrow(_Work(tuple(self.schema.names), work), from_arrow_schema(target))
        return replace(self, frame=mapped)

    @contextmanager
    def persisted(self) -> Iterator[FrameRows]:
        persisted = self.frame.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield replace(self, frame=persisted)
        finally:
            persisted.unpersist()

    def is_empty(self) -> bool:
        with self._computed():
            return bool(self.frame.isEmpty())

    def doubled(self, names: Sequence[str]) -> Doubled | None:
        columns = [count_rows(lit(1)).alias(_COUNT), first(struct("*")).alias(_FIRST)]
        counted = self.frame.groupBy(*(col(_quoted(name)) for name in names)).agg(*columns)
        doubled = counted.where(col(_COUNT) > 1)
        with self._computed():
            rows = doubled.limit(1).select(col(f"{_FIRST}.*")).toArrow()
            return Doubled(doubled.count(), rows.to_pylist()[0]) if rows.num_rows else None

    def write(self, table: HoodieTable, operation: str, options: dict[str, str], **how: Any) -> WriteResult:
        with self._computed():
            return table.write(self.frame, operation, options, schema=self.schema, **how)

    @contextmanager
    def _computed(self) -> Iterator[None]:
        """Spark runs the query, and its workers may raise errors of the library."""
        with ExitStack() as blocks:
            for state in self.states:
                blocks.enter_context(of_snapshot(state))
            blocks.enter_context(sql_errors(_ROWS))
            blocks.enter_context(raised_errors())
            yield


_COUNT, _FIRST = "__hoodie_count", "__hoodie_first"
_ROWS = "a statement, as its rows are computed"


@dataclass(frozen=True)
class _Work:
    """Function of `mapInArrow`: rows of a query, whose columns are called so -> rows of a table."""

    names: Sequence[str]
    work: Callable[[pa.Table], pa.Table]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            for batch in batches:
                rows = pa.Table.from_batches([batch]).rename_columns(list(self.names))
                yield from self.work(rows).combine_chunks().to_batches()


def _quoted(name: str) -> str:
    """A name as `col` takes it: whole, with all its signs."""
    return f"`{name.replace('`', '``')}`"

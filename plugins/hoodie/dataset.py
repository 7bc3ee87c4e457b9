"""A Hudi table, or its changes, as a data set of Arrow: DuckDB and polars ask it for the columns and rows that a query needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from hoodie.changes import ChangeQuery, ChangeStream, open_changes
from hoodie.error_boundary import call
from hoodie.errors import ArgumentError, HoodieError, StaleSnapshotError
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.read.snapshot import of_snapshot, plan_snapshot
from hoodie.read.stream import stream_rows
from hoodie.table import HoodieTable
from hoodie.view import TableState


class TableDataset(ds.Dataset):  # type: ignore[misc]
    """Base of the data sets of a table. A subclass has `schema` and `scanner`."""

    def __init__(self, table: HoodieTable) -> None:
        self._table = table
        self._failure: HoodieError | None = None

    @property
    def failure(self) -> HoodieError | None:
        """The error of the last scan that failed. Engines that stream the rows pass on no more than its text."""
        return self._failure

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except HoodieError as error:
            self._failure = error
            raise

    def to_table(self, columns: list[str] | None = None, filter: pc.Expression | None = None, **how: Any) -> pa.Table:
        """The rows at once."""
        return self.scanner(columns, filter, **how).to_table()

    def to_batches(
        self, columns: list[str] | None = None, filter: pc.Expression | None = None, **how: Any
    ) -> Iterator[pa.RecordBatch]:
        """The rows in batches, as they come."""
        yield from self.scanner(columns, filter, **how).to_reader()

    def head(self, num_rows: int, columns: list[str] | None = None, **how: Any) -> pa.Table:
        """Some `num_rows` rows."""
        return self.scanner(columns, **how).head(num_rows)

    def count_rows(self, filter: pc.Expression | None = None, **how: Any) -> int:
        """How many rows pass `filter`."""
        return sum(batch.num_rows for batch in self.to_batches(self.schema.names[:1], filter, **how))

    def get_fragments(self, filter: pc.Expression | None = None) -> NoReturn:
        """Raises ArgumentError: the files of a table are not its rows, as logs and older files are among them."""
        self._refuse("fragments", "use scanner(), to_batches() or to_table()")

    def filter(self, expression: pc.Expression) -> NoReturn:
        """Raises ArgumentError."""
        self._refuse("filter()", "give the filter to scanner(), to_batches() or to_table()")

    def take(self, indices: object, **_how: Any) -> NoReturn:
        """Raises ArgumentError: rows of a table have no numbers."""
        self._refuse("take()", "name the rows by a filter")

    def join(self, *_args: Any, **_how: Any) -> NoReturn:
        """Raises ArgumentError."""
        self._refuse("join()", "join with DuckDB, polars, or what to_table() gives")

    join_asof = sort_by = replace_schema = join

    @property
    def partition_expression(self) -> NoReturn:
        """Raises ArgumentError."""
        self._refuse("partition_expression", "give a filter to scanner()")

    def __reduce__(self) -> NoReturn:
        self._refuse("pickling", "open the table where it is read")

    def _refuse(self, feature: str, fix: str) -> NoReturn:
        raise ArgumentError(f"The data set of table {self._table.base_path} has no {feature}", fix=fix)


class HoodieDataset(TableDataset):
    """The rows of a table as it was when the data set was made, so that a query that reads it twice sees one state.

    `duckdb.sql("select … from dataset")` and `polars.scan_pyarrow_dataset(dataset)` hand down columns and conditions.
    """

    def __init__(
        self,
        table: HoodieTable,
        kind: Snapshot | Incremental | None = None,
        *,
        options: Mapping[str, object] | None = None,
        state: TableState | None = None,
        meta_columns: bool = False,
    ) -> None:
        """`kind` is what is asked of the table (None: its rows now), `options` are the keys of `hoodie.config.keys.read`, `state`
        is the table as it was looked at before.

        Raises TimeTravelError, and what `HoodieTable.plan_read` raises; StaleSnapshotError when a file of `state` is gone.
        """
        super().__init__(table)
        self._query = Query(None, None, kind or Snapshot(), options=options or {}, meta_columns=meta_columns)
        self._state = table.state() if state is None else state
        with call("planning a read"):
            try:
                self._columns = plan_snapshot(self._state, self._query).schema
            except StaleSnapshotError:
                if state is not None:
                    raise
                self._state = table.state()
                self._columns = plan_snapshot(self._state, self._query).schema

    @property
    def schema(self) -> pa.Schema:
        return self._columns

    @property
    def state(self) -> TableState:
        """The table as the data set reads it."""
        return self._state

    @property
    def query(self) -> Query:
        """Query of the table, without columns and filter."""
        return self._query

    def scanner(
        self, columns: list[str] | None = None, filter: pc.Expression | None = None, **_how_fast: Any
    ) -> ds.Scanner:
        """A scanner of the named columns (None: all) of the rows that pass `filter`. Other arguments of Arrow only concern its
        own readers. Raises StaleSnapshotError, also while it reads, when a file of this state is gone."""
        if isinstance(columns, Mapping):
            self._refuse("columns made by expressions", "name columns, and compute on what is read")
        with self._noted(), call("planning a read"):
            plan = plan_snapshot(self._state, replace(self._query, columns=columns, filter=filter))
        return ds.Scanner.from_batches(self._batches(plan), schema=plan.schema)

    def _batches(self, plan: Any) -> Iterator[pa.RecordBatch]:
        with self._noted(), call("reading"), of_snapshot(self._state):
            yield from stream_rows(plan, self._table.storage, self._table.engine.parallelism)


class ChangeDataset(TableDataset):
    """Changes of a table, with the columns and in the order of `HoodieTable.read_changes`.

    They are those of the table as it was when the data set was made. Each scan reads them again, as a stream. Columns and
    conditions of a query leave out changes, not files.
    """

    def __init__(
        self, table: HoodieTable, query: ChangeQuery | None = None, *, state: TableState | None = None
    ) -> None:
        """`state` is the table as it was looked at before. Raises what `HoodieTable.read_changes` raises when it plans a read."""
        super().__init__(table)
        self._state = table.state() if state is None else state
        with call("planning a read of changes"), of_snapshot(self._state):
            self._stream = open_changes(self._state, query or ChangeQuery(), table.engine)

    @property
    def schema(self) -> pa.Schema:
        return self._stream.schema

    @property
    def state(self) -> TableState:
        """The table as the data set reads it."""
        return self._state

    @property
    def stream(self) -> ChangeStream:
        """The changes as the data set reads them."""
        return self._stream

    def scanner(
        self, columns: list[str] | None = None, filter: pc.Expression | None = None, **_how_fast: Any
    ) -> ds.Scanner:
        """A scanner of the named columns (None: all) of the changes that pass `filter`. Raises ChangeRangeError while it reads,
        when files of the range were cleaned, and StaleSnapshotError when that happened after the data set was made."""
        if isinstance(columns, Mapping):
            self._refuse("columns made by expressions", "name columns, and compute on what is read")
        names = self.schema.names if columns is None else columns
        schema = pa.schema([self.schema.field(name) for name in names])
        return ds.Scanner.from_batches(self._batches(names, filter), schema=schema)

    def _batches(self, names: list[str], filter: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        with self._noted(), call("reading changes"), of_snapshot(self._state):
            for changes in self._stream.tables():
                passing = changes if filter is None else changes.filter(filter)
                yield from passing.select(names).to_batches()

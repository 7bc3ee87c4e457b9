"""A Hudi table as a data set of Arrow: DuckDB and polars ask it for the columns and rows that a query needs, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from hoodie.calls import call
from hoodie.errors import ArgumentError, HoodieError, StaleSnapshotError
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.read.snapshot import of_snapshot, plan_snapshot
from hoodie.read.stream import stream_rows
from hoodie.table import HoodieTable
from hoodie.view import TableState


class HoodieDataset(ds.Dataset):  # type: ignore[misc]
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
        """`kind` is what is asked of the table (None: its rows now), `options` are the keys of `hoodie.config.read_keys`, `state`
        is the table as it was looked at before.

        Raises TimeTravelError, and what `HoodieTable.plan_read` raises; StaleSnapshotError when a file of `state` is gone.
        """
        self._table = table
        self._query = Query(None, None, kind or Snapshot(), options=options or {}, meta_columns=meta_columns)
        self._state = table.state() if state is None else state
        self._failure: HoodieError | None = None
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
    def failure(self) -> HoodieError | None:
        """The error of the last scan that failed. Engines that stream the rows pass on no more than its text."""
        return self._failure

    @property
    def query(self) -> Query:
        """What is asked of the table, without columns and filter."""
        return self._query

    def scanner(
        self, columns: list[str] | None = None, filter: pc.Expression | None = None, **_how_fast: Any
    ) -> ds.Scanner:
        """A scanner of the named columns (None: all) of the rows that pass `filter`. What else Arrow takes here only concerns
        its own readers. Raises StaleSnapshotError, also while it reads, when a file of this state is gone."""
        if isinstance(columns, Mapping):
            self._refuse("columns made by expressions", "name columns, and compute on what is read")
        with self._noted(), call("planning a read"):
            plan = plan_snapshot(self._state, replace(self._query, columns=columns, filter=filter))
        return ds.Scanner.from_batches(self._batches(plan), schema=plan.schema)

    def _batches(self, plan: Any) -> Iterator[pa.RecordBatch]:
        with self._noted(), call("reading"), of_snapshot(self._state):
            yield from stream_rows(plan, self._table.storage, self._table.engine.parallelism)

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
        return sum(batch.num_rows for batch in self.to_batches(self._columns.names[:1], filter, **how))

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

    def _refuse(self, what: str, fix: str) -> NoReturn:
        raise ArgumentError(f"The data set of table {self._table.base_path} has no {what}", fix=fix)

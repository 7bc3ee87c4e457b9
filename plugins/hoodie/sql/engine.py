"""Engines of queries, as statements use them. Two real ones: DuckDB in this process, and Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa
from sqlglot import exp

from hoodie.engine import Engine
from hoodie.sql.parse import Statement
from hoodie.sql.row_keys import RowKeys
from hoodie.sql.update_rows import Changes
from hoodie.table import HoodieTable
from hoodie.write.execute import WriteResult

if TYPE_CHECKING:  # a worker of Spark imports this module, but needs no dataset, which loads pandas
    from hoodie.dataset import TableDataset


@dataclass(frozen=True)
class Doubled:
    """Keys that several rows have."""

    count: int
    first: dict[str, Any]
    """The columns of one of these rows."""


class Rows(Protocol):
    """The rows of a query, where the engine has them: in memory, or on a cluster, where they may not even be computed yet."""

    @property
    def schema(self) -> pa.Schema:
        """Their columns."""
        ...

    def fetched(self) -> pa.Table:
        """All rows, here."""
        ...

    def selected(self, names: Sequence[str]) -> Rows:
        """The named columns, in this order."""
        ...

    def stored(self, schema: pa.Schema, names: Sequence[str]) -> Rows:
        """As `hoodie.sql.assignment.stored`: in the columns of a table."""
        ...

    def changed(self, changes: Changes) -> Rows:
        """As `hoodie.sql.update_rows.changed`: rows of a query of changes as they are written."""
        ...

    def keyed(self, keys: RowKeys, also: Sequence[str] = ()) -> Rows:
        """As `RowKeys.keyed`: the columns of keys, and the keys that the table makes of them."""
        ...

    def marked(self, name: str) -> Rows:
        """The rows for which the boolean column `name` is true."""
        ...

    def persisted(self) -> AbstractContextManager[Rows]:
        """The same rows, which are computed once for all uses."""
        ...

    def is_empty(self) -> bool:
        """Return whether there is no row."""
        ...

    def doubled(self, names: Sequence[str]) -> Doubled | None:
        """Values that several rows have in the columns `names`; None when all rows differ."""
        ...

    def write(self, table: HoodieTable, operation: str, options: dict[str, str], **how: Any) -> WriteResult:
        """Write them by `HoodieTable.write`, whose further arguments are `how`."""
        ...


Source: TypeAlias = "TableDataset | pa.Table | Rows"
"""A table for an engine. Rows are those of a query of its own."""
NamedSource: TypeAlias = tuple[exp.Table, Source]
"""It, and its node in the tree of a query."""


class QueryEngine(Protocol):
    """Runs queries whose tables may be Hudi's. It may have tables and views of its own."""

    @property
    def name(self) -> str:
        """As messages call it."""
        ...

    @property
    def tasks(self) -> Engine | None:
        """Engine of the library's reads and writes; None: threads."""
        ...

    @property
    def is_lasting(self) -> bool:
        """True where tables that statements make in it outlive the connection."""
        ...

    def query(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> Rows:
        """The rows of a query in Spark's SQL, whose tables `sources` are Hudi's. Raises SqlError for what it cannot do."""
        ...

    def explained(self, tree: exp.Expression, sources: Sequence[NamedSource]) -> str:
        """The engine's plan of such a query, as text. No row is read. Raises SqlError."""
        ...

    def filtered(self, rows: pa.Table, condition: exp.Expression) -> pa.Table:
        """Those of `rows` for which a condition in Spark's SQL holds. Raises SqlError."""
        ...

    def run(self, statement: Statement) -> pa.Table:
        """A statement that names no Hudi table: a query in Spark's SQL, or another statement as it was written. Raises SqlError
        for what the engine cannot do."""
        ...

    def has(self, name: str) -> bool:
        """Return whether it has a table or view of this name itself."""
        ...

    def has_temporary(self, name: str) -> bool:
        """Return whether it has a view of this name for this session only, which hides a table of the catalog."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...

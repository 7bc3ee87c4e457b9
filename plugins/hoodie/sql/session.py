"""What statements of one connection share: the catalog, the engine, the database in use, the options that were set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from hoodie.dataset import HoodieDataset
from hoodie.errors import SqlError
from hoodie.read.query import Snapshot
from hoodie.sql.duck import DuckEngine
from hoodie.sql.names import TableName, table_name, tables_read
from hoodie.sql.parse import DIALECT
from hoodie.sql.warehouse import DEFAULT_DATABASE, Entry, Warehouse, known
from hoodie.table import HoodieTable

INSERT_OPERATION = "hoodie.spark.sql.insert.into.operation"
OVERWRITE_MODE = "hoodie.datasource.overwrite.mode"


@dataclass
class Session:
    """Of one connection."""

    catalog: Warehouse
    engine: DuckEngine
    database: str = DEFAULT_DATABASE
    options: dict[str, str] = field(default_factory=dict)

    def use(self, database: str) -> None:
        """Names without a database mean this one from now on. Raises SqlError when it is not there."""
        known = self.catalog.databases()
        if database not in known:
            raise SqlError(
                f"There is no database {database}", found=", ".join(known), fix=f"CREATE DATABASE {database}"
            )
        self.database = database

    def named(self, table: exp.Table) -> TableName:
        """The full name of a table in a statement."""
        return table_name(table, self.database)

    def entry(self, table: exp.Table) -> Entry:
        """Raises TableNotFoundError."""
        return known(self.catalog, self.named(table))

    def is_of_engine(self, table: exp.Table) -> bool:
        """Whether a statement's table is one of the engine's own, which come first."""
        return not table.db and self.engine.has(table.name)

    def is_known(self, table: exp.Table) -> bool:
        """Whether a statement's table is one of the catalog."""
        if self.is_of_engine(table):
            return False
        return self.catalog.find(self.named(table)) is not None

    def open(self, entry: Entry) -> HoodieTable:
        """The table itself."""
        return HoodieTable.open(entry.location)

    def write_options(self, entry: Entry) -> dict[str, str]:
        """Those of the table, and over them those that were set."""
        return {name: value for name, value in {**entry.options, **self.options}.items() if not _is_of_sql(name)}

    def rows(self, query: exp.Expression, opened: Iterable[HoodieDataset] = ()) -> pa.Table:
        """The rows of a query. `opened` are tables as the statement looked at them before: it sees them in that state."""
        before = {dataset.state.storage.base_path: dataset for dataset in opened}
        sources = list[tuple[exp.Table, HoodieDataset]]()
        for table in tables_read(query):
            if self.is_known(table):
                entry = self.entry(table)
                moment = _as_of(table)
                here = before.get(entry.location) if moment is None else None
                sources.append((table, here or HoodieDataset(self.open(entry), Snapshot(moment))))
        return self.engine.query(query, sources)


def _is_of_sql(name: str) -> bool:
    """Options of statements, which no write takes."""
    return name in (INSERT_OPERATION, OVERWRITE_MODE)


def _as_of(table: exp.Table) -> str | None:
    """TIMESTAMP AS OF and VERSION AS OF, both of which take instants and times."""
    version = table.args.get("version")
    if version is None:
        return None
    moment = version.args.get("expression")
    if version.args.get("kind") != "AS OF" or not isinstance(moment, exp.Literal | exp.Cast):
        raise SqlError(
            f"A table is read at a moment that is no literal: {table.sql(dialect=DIALECT)}",
            fix="write TIMESTAMP AS OF '2026-01-31 12:00:00', or an instant",
        )
    return str((moment.this if isinstance(moment, exp.Cast) else moment).name)

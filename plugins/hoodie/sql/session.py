"""State that statements of one connection share: the catalog, the engine, the database in use, the options that were set."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError, StaleSnapshotError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.read.query import Snapshot
from hoodie.sql.catalog import DEFAULT_DATABASE, Catalog, Entry, entry_of
from hoodie.sql.engine import NamedSource, QueryEngine, Rows
from hoodie.sql.look import Look
from hoodie.sql.names import TableName, table_name, tables_read
from hoodie.sql.parse import DIALECT
from hoodie.sql.table_functions import TableFunction, table_functions
from hoodie.table import HoodieTable

_log = logging.getLogger(__name__)

INSERT_OPERATION = "hoodie.spark.sql.insert.into.operation"
OVERWRITE_MODE = "hoodie.datasource.overwrite.mode"


@dataclass
class Session:
    """State of one connection."""

    catalog: Catalog
    engine: QueryEngine
    database: str = DEFAULT_DATABASE
    options: dict[str, str] = field(default_factory=dict)

    def use(self, database: str) -> None:
        """Names without a database mean this one from now on. Raises SqlError when it is not there."""
        databases = self.catalog.databases()
        if database not in databases:
            raise SqlError(
                f"There is no database {database}", found=", ".join(databases), fix=f"CREATE DATABASE {database}"
            )
        self.database = database

    def named(self, table: exp.Table) -> TableName:
        """The full name of a table in a statement."""
        return table_name(table, self.database)

    def entry(self, table: exp.Table) -> Entry:
        """Raises TableNotFoundError."""
        return entry_of(self.catalog, self.named(table))

    def written(self, table: exp.Table) -> Entry:
        """The entry of a table whose rows are changed. Raises TableNotFoundError, and SqlError for a name that leaves out what is
        in logs: the statement would not see the rows that it changes."""
        entry = self.entry(table)
        if entry.read_optimized and self.open(entry).state().properties.is_merge_on_read:
            raise SqlError(
                f"Table {entry.name} is read without its logs, and not changed",
                found=f"{self.catalog.path} knows it as the read-optimised one of {entry.location}",
                fix="name the table of its snapshots, such as the one that ends with _rt",
            )
        return entry

    def is_of_engine(self, table: exp.Table) -> bool:
        """Return whether a statement's table is one of the engine's own. Its temporary views hide tables of the catalog, its
        other tables do not."""
        if table.db:
            return False
        engine = self.engine
        return engine.has_temporary(table.name) or (engine.has(table.name) and not self.is_known(table))

    def is_known(self, table: exp.Table) -> bool:
        """Return whether a statement's table is one of the catalog."""
        if not table.db and self.engine.has_temporary(table.name):
            return False
        return self.catalog.find(self.named(table)) is not None

    def open(self, entry: Entry) -> HoodieTable:
        """The table itself."""
        return HoodieTable.open(entry.location, engine=self.engine.tasks)

    def write_options(self, entry: Entry) -> dict[str, str]:
        """The catalog's options; the table's override them, and those that were set override both."""
        merged = {**entry.defaults, **entry.options, **self.options}
        return {name: value for name, value in merged.items() if not is_of_sql(name)}

    def about(self, function: TableFunction) -> Entry:
        """The table of a function, which names it, or says its path. Raises TableNotFoundError."""
        if "/" in function.table:
            return Entry(TableName(self.database, function.table), function.table, managed=False)
        return self.entry(exp.to_table(function.table, dialect=DIALECT))

    def reads(self, query: exp.Expression) -> list[Entry]:
        """The tables of the catalog that a query is about. Raises SqlError."""
        named = [self.entry(table) for table in tables_read(query) if self.is_known(table)]
        return named + [self.about(function) for function in table_functions(query)]

    def rows(self, query: exp.Expression, look: Look | None = None, row_sets: Mapping[str, Rows] | None = None) -> Rows:
        """The rows of a query. `look` has the tables as other queries of the statement saw them: this one sees them so, too.
        `row_sets` are rows of other queries, by the names that the query has for them.

        Tables have their meta columns where the query names one. A file may go while the engine reads: the query then is run
        again on the tables of that moment. Raises StaleSnapshotError where that would mix states: with a `look` or `row_sets`.
        """
        try:
            return self._rows(query, look or Look(), row_sets or {})
        except StaleSnapshotError as error:
            if look is not None or row_sets:
                raise
            _log.info("Asked again: %s", error)
        return self._rows(query, Look(), {})

    def fetched(self, query: exp.Expression) -> pa.Table:
        """All rows of a query, here. It is run again, as by `rows`, also where an engine computes them only now."""
        try:
            return self.rows(query).fetched()
        except StaleSnapshotError as error:
            _log.info("Asked again: %s", error)
        return self.rows(query).fetched()

    def _rows(self, query: exp.Expression, look: Look, row_sets: Mapping[str, Rows]) -> Rows:
        return self.engine.query(query, self.sources(query, look, row_sets))

    def sources(
        self, query: exp.Expression, look: Look, row_sets: Mapping[str, Rows] | None = None
    ) -> list[NamedSource]:
        """The tables of a query for the engine; arguments as those of `rows`. Raises HoodieError."""
        meta = any(column.name.lower() in META_COLUMNS for column in query.find_all(exp.Column))
        sources = list[NamedSource]()
        for table in tables_read(query):
            if row_sets and table.name in row_sets:
                sources.append((table, row_sets[table.name]))
            elif self.is_known(table):
                entry = self.entry(table)
                kind = Snapshot(moment_of(table), entry.read_optimized)
                sources.append((table, look.dataset(self.open(entry), kind, meta_columns=meta)))
        sources += [
            (function.node, function.source(self.open(self.about(function)), look))
            for function in table_functions(query)
        ]
        return sources


def is_of_sql(name: str) -> bool:
    """Options of statements, which no write takes."""
    return name in (INSERT_OPERATION, OVERWRITE_MODE)


def moment_of(table: exp.Table) -> str | None:
    """Return the moment of TIMESTAMP AS OF and VERSION AS OF, both of which take instants and times. Raises SqlError."""
    version = table.args.get("version")
    if version is None:
        return None
    moment = version.args.get("expression")
    if version.args.get("kind") != "AS OF" or not isinstance(moment, exp.Literal | exp.Cast):
        raise SqlError(
            f"The moment of a table has to be a literal:  {table.sql(dialect=DIALECT)}",
            fix="write TIMESTAMP AS OF '2026-01-31 12:00:00', or an instant",
        )
    return str((moment.this if isinstance(moment, exp.Cast) else moment).name)

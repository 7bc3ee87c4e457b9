"""Queries and lists of tables in the catalogs of a session: `catalog.database.table`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from hoodie.display import size_of, some
from hoodie.errors import SqlError, TableNotFoundError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.read.query import Snapshot
from hoodie.sql.catalog import Entry, entry_of
from hoodie.sql.engine import NamedSource, Source
from hoodie.sql.look import Look
from hoodie.sql.names import TableName, tables_read
from hoodie.sql.parse import DIALECT, Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session, moment_of
from hoodie.sql.types import simple_type
from hudi_services.sources.cdc.mysql.catalog import catalog_databases, catalog_tables
from hudi_services.sources.cdc.mysql.columns import declared_table
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.snapshot import snapshot
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog
from hudi_services.sql.server_query import server_query

MAX_BYTES = 1 << 30
"""Bytes of a server's table that a query reads at most."""
_NAME = r"`?(?P<{}>\w+)`?"
_DATABASES = re.compile(rf"\s*SHOW\s+(?:DATABASES|SCHEMAS)\s+(?:IN|FROM)\s+{_NAME.format('catalog')}\s*", re.IGNORECASE)
_TABLES = re.compile(
    rf"\s*SHOW\s+TABLES\s+(?:IN|FROM)\s+{_NAME.format('catalog')}\s*\.\s*`?(?P<database>[^`.]+?)`?\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class CatalogQueries:
    """Statements that only read tables of `catalogs`."""

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    environ: Mapping[str, str]

    def run(self, session: Session, statement: Statement) -> Result | None:
        """Run a query, SHOW or DESCRIBE that names a catalog, None for another statement. Raises HoodieError."""
        if (show := _DATABASES.fullmatch(statement.text)) is not None:
            return _texts(namespace=self.databases(self.catalog(show["catalog"])))
        if (show := _TABLES.fullmatch(statement.text)) is not None:
            return _texts(tableName=self._tables(self.catalog(show["catalog"]), show["database"]))
        tree = statement.tree
        if isinstance(tree, exp.Describe) and isinstance(tree.this, exp.Table) and tree.this.catalog:
            schema = self._schema(tree.this, session)
            return _texts(col_name=schema.names, data_type=[simple_type(kind) for kind in schema.types])
        if isinstance(tree, exp.Query) and any(table.catalog for table in tables_read(tree)):
            return Result(session.engine.query(tree, list(self._sources(session, tree))).fetched())
        return None

    def catalog(self, name: str) -> ServerCatalog | LakeCatalog:
        """Return a catalog by its name. Raises SqlError for other names."""
        catalog = self.catalogs.get(name.lower())
        if catalog is None:
            raise SqlError(
                f"The session has no catalog {name}",
                found=", ".join(sorted(self.catalogs)) or "no catalog",
                fix=f"CREATE CATALOG {name} WITH ('type'=…), or leave out the first part of the name",
            )
        return catalog

    def databases(self, catalog: ServerCatalog | LakeCatalog) -> list[str]:
        """Return the names of a catalog's databases. A server is asked."""
        if isinstance(catalog, LakeCatalog):
            return catalog.catalog.databases()
        with connected(catalog.name, catalog.server, self.environ) as connection:
            return list(catalog.server.databases or catalog_databases(connection))

    def _tables(self, catalog: ServerCatalog | LakeCatalog, database: str) -> list[str]:
        if isinstance(catalog, LakeCatalog):
            database = database.lower()
            tables = [table.name for table in catalog.catalog.tables(database)]
        else:
            with connected(catalog.name, catalog.server, self.environ) as connection:
                tables = [table.name for table in catalog_tables(connection, [database])]
        if not tables and database not in (databases := self.databases(catalog)):
            raise SqlError(f"There is no database {database}", found=some(databases), fix="correct the name")
        return tables

    def _schema(self, table: exp.Table, session: Session) -> pa.Schema:
        catalog = self.catalog(table.catalog)
        if isinstance(catalog, ServerCatalog):
            with connected(catalog.name, catalog.server, self.environ) as connection:
                return declared_table(connection, table.db, table.name).schema
        return session.open(lake_entry(catalog, table)).schema

    def _sources(self, session: Session, query: exp.Query) -> Iterator[NamedSource]:
        look = Look()
        meta = any(column.name.lower() in META_COLUMNS for column in query.find_all(exp.Column))
        for table in tables_read(query):
            if table.catalog:
                yield table, self._source(session, query, table, look, meta=meta)
            elif session.is_known(table):
                entry = session.entry(table)
                table_snapshot = Snapshot(moment_of(table), entry.read_optimized)
                yield table, look.dataset(session.open(entry), table_snapshot, meta_columns=meta)

    def _source(self, session: Session, query: exp.Query, table: exp.Table, look: Look, *, meta: bool) -> Source:
        catalog = self.catalog(table.catalog)
        if isinstance(catalog, LakeCatalog):
            entry = lake_entry(catalog, table)
            lake_snapshot = Snapshot(moment_of(table), entry.read_optimized)
            return look.dataset(session.open(entry), lake_snapshot, meta_columns=meta)
        if moment_of(table) is not None:
            raise SqlError(
                f"A server has no rows of an earlier time: {table.sql(dialect=DIALECT)}", fix="leave AS OF out"
            )
        return self._rows(catalog, query, table)

    def _rows(self, catalog: ServerCatalog, query: exp.Query, table: exp.Table) -> pa.Table:
        """The part of a server's table that a query needs, at one moment. Raises SqlError for more than `MAX_BYTES`."""
        with snapshot(catalog.name, catalog.server, self.environ, table.db, table.name) as rows:
            needed = server_query(query, table, rows.table)
            if not needed.columns and not needed.condition:
                [[count]] = rows.answer(f"SELECT COUNT(*) FROM {rows.table.quoted_name}")
                return pa.table({rows.table.columns[0].name: pa.repeat(True, count)})
            batches, size = [], 0
            narrow = replace(rows, table=needed.narrowed(rows.table))
            for batch in narrow.rows_where(needed.condition):
                batches.append(batch)
                size += batch.nbytes
                if size > MAX_BYTES:
                    raise SqlError(
                        f"The table {table.db}.{table.name} of the server is too large for a query here",
                        found=f"more than {size_of(MAX_BYTES)}",
                        fix="compare its columns with numbers, dates or texts in WHERE, or load it, and query its Hudi table",
                    )
            return pa.Table.from_batches(batches, narrow.table.schema)


def lake_entry(lake: LakeCatalog, table: exp.Table) -> Entry:
    """Return the entry of a table by its name of three parts. Raises TableNotFoundError, SqlError for an unknown database."""
    name = TableName(table.db.lower(), table.name.lower())
    try:
        return entry_of(lake.catalog, name)
    except TableNotFoundError:
        databases = lake.catalog.databases()
        if name.database in databases:
            raise
        raise SqlError(
            f"There is no database {name.database} in {lake.catalog.path}",
            found=some(databases),
            fix="correct the name",
        ) from None


def _texts(**columns: list[str]) -> Result:
    return Result(pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))

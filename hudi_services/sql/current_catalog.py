"""USE: the catalog and the database that names without one mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.catalog import DEFAULT_DATABASE, Catalog
from hoodie.sql.names import tables_read
from hoodie.sql.parse import Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog

_PART = r"(?:`(?P<{0}>[^`]+)`|(?P<{0}_plain>\w+))"
_USE = re.compile(
    rf"\s*USE\s+(?P<kind>(?:CATALOG|DATABASE|SCHEMA|NAMESPACE)\s+)?{_PART.format('first')}(?:\s*\.\s*{_PART.format('second')})?\s*",
    re.IGNORECASE,
)
_TABLES = re.compile(r"\s*SHOW\s+TABLES(?:\s+(?:IN|FROM)\s+`?(?P<database>[^`.\s]+)`?)?\s*", re.IGNORECASE)
_DATABASES = re.compile(r"\s*SHOW\s+(?:DATABASES|SCHEMAS)\s*", re.IGNORECASE)
_OWN = "default"
"""The name of the catalog with which the session began, in USE CATALOG."""
Databases = Callable[[ServerCatalog | LakeCatalog], list[str]]


@dataclass
class CurrentCatalog:
    """The catalog in use among `catalogs`.

    Statements find a lake in their session. A server's tables are only read, so names of queries get the parts that they lack.
    """

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    databases: Databases
    _own: tuple[Catalog, str] | None = None
    _server: str | None = None
    _database: str | None = None

    def run(self, session: Session, statement: Statement) -> Result | None:
        """Run USE of a catalog or of one of its databases, None for another statement. Raises SqlError for other names."""
        match = _USE.fullmatch(statement.text)
        if match is None:
            return None
        first, second = (match[part] or match[f"{part}_plain"] for part in ("first", "second"))
        kind = (match["kind"] or "").strip().upper()
        if kind == "CATALOG" and first.lower() == _OWN and second is None:
            self._leave(session)
            return Result.of_message("the session's own catalog is in use")
        is_catalog = kind == "CATALOG" or second is not None or (not kind and first.lower() in self.catalogs)
        if is_catalog:
            return self._use(session, first.lower(), second)
        if self._server is None:
            return None  # a database of the session's catalog
        return self._use(session, self._server, first)

    def dropped(self, session: Session, name: str) -> None:
        """Leave a catalog that is gone."""
        catalog = self.catalogs[name]
        if self._server == name or (isinstance(catalog, LakeCatalog) and catalog.catalog is session.catalog):
            self._leave(session)

    def completed(self, session: Session, statement: Statement) -> Statement:
        """Return a statement whose names are in the server in use. Raises SqlError for one that does more than read."""
        if self._server is None:
            return statement
        if _DATABASES.fullmatch(statement.text):
            return replace(statement, text=f"SHOW DATABASES IN `{self._server}`")
        if (show := _TABLES.fullmatch(statement.text)) is not None:
            return replace(statement, text=f"SHOW TABLES IN `{self._server}`.`{show['database'] or self._in_use()}`")
        tree = statement.tree.copy()
        if isinstance(tree, exp.Describe) and isinstance(tree.this, exp.Table):
            self._complete(tree.this)
        elif isinstance(tree, exp.Query):
            for table in tables_read(tree):
                if table.catalog or (not table.db and session.engine.has_temporary(table.name)):
                    continue
                self._complete(table)
        elif not isinstance(tree, exp.Set):
            raise SqlError(
                f"The server {self._server} is in use, whose tables statements only read",
                found=statement.text[:100],
                fix="name the Hudi table after `USE CATALOG default`, or after USE of a catalog of type hudi",
            )
        return replace(statement, tree=tree)

    def _use(self, session: Session, name: str, database: str | None) -> Result:
        catalog = self.catalogs.get(name)
        if catalog is None:
            raise SqlError(
                f"The session has no catalog {name}",
                found=", ".join(sorted(self.catalogs)) or "no catalog",
                fix=f"CREATE CATALOG {name} WITH ('type'=…), or USE a database by its name alone",
            )
        is_lake = isinstance(catalog, LakeCatalog)
        if database is not None and is_lake:
            database = database.lower()
        if database is not None and database not in (databases := self.databases(catalog)):
            raise SqlError(
                f"The catalog {name} has no database {database}", found=", ".join(databases), fix="correct the name"
            )
        self._leave(session)
        if isinstance(catalog, LakeCatalog):
            self._own = session.catalog, session.database
            session.catalog, session.database = catalog.catalog, database or DEFAULT_DATABASE
        else:
            self._server, self._database = name, database
        return Result.of_message(f"{name if database is None else f'{name}.{database}'} is in use")

    def _leave(self, session: Session) -> None:
        if self._own is not None:
            session.catalog, session.database = self._own
        self._own = self._server = self._database = None

    def _complete(self, table: exp.Table) -> None:
        if not table.db:
            table.set("db", exp.to_identifier(self._in_use(), quoted=True))
        if not table.catalog:
            table.set("catalog", exp.to_identifier(self._server, quoted=True))

    def _in_use(self) -> str:
        if self._database is None:
            raise SqlError(
                f"No database of the server {self._server} is in use",
                fix=f"USE {self._server}.DATABASE, or name it before the table",
            )
        return self._database

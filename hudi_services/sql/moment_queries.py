"""Queries AS OF SOURCE: all tables as of one cut of the database server from which they are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from hoodie.dataset import HoodieDataset
from hoodie.errors import SqlError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.model.place import same_table
from hoodie.model.time import Time
from hoodie.read.query import Snapshot
from hoodie.sql.catalog import Entry
from hoodie.sql.engine import NamedSource
from hoodie.sql.look import Look
from hoodie.sql.names import tables_read
from hoodie.sql.parse import DIALECT, Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session, moment_of
from hoodie.sql.table_functions import table_functions
from hoodie.sql.warehouse import Warehouse
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.cuts import Cut, TablePlace
from hudi_services.sources.databases.source_moment import cut_at, cut_text, source_moment
from hudi_services.sql.catalog_queries import lake_entry
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog
from hudi_services.sql.source_servers import SourceServer, source_servers


@dataclass(frozen=True)
class MomentQueries:
    """Queries of tables in the session's catalog and in `catalogs`. `reading` is the registry, None without one."""

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    reading: Reading | None

    def run(self, session: Session, statement: Statement, moment: str) -> Result:
        """Run a query as of the newest cut at or before a moment of the server. The result's note says which cut it is.

        Raises SqlError for other statements, a moment without a cut, and tables that are not at the cut. Raises
        TimeTravelError for commits that were cleaned.
        """
        server_moment, query = source_moment(moment), statement.tree
        entries = self._entries(session, query)
        server = self._server(session, [entry for _, entry in entries])
        cut = cut_at(server_moment, server.name, server.cuts.newest_first())
        meta = any(column.name.lower() in META_COLUMNS for column in query.find_all(exp.Column))
        look = Look()
        sources: list[NamedSource] = [
            (table, _dataset(session, entry, _place(entry, server, cut), cut, look, meta=meta))
            for table, entry in entries
        ]
        return Result(session.engine.query(query, sources).fetched(), note=f"as of {cut_text(cut)}, of {server.name}")

    def _entries(self, session: Session, query: exp.Expression) -> list[tuple[exp.Table, Entry]]:
        if not isinstance(query, exp.Query) or list(table_functions(query)):
            raise SqlError(
                "AS OF SOURCE is only for queries of tables",
                found="another statement, or a function in FROM",
                fix="write SELECT … FROM … AS OF SOURCE 'cut 12'",
            )
        entries = [(table, self._entry(session, table)) for table in tables_read(query)]
        if not entries:
            raise SqlError("A query AS OF SOURCE reads no table", fix="leave AS OF SOURCE out")
        return entries

    def _entry(self, session: Session, table: exp.Table) -> Entry:
        text = table.sql(dialect=DIALECT)
        if moment_of(table) is not None:
            raise SqlError(f"A table has a moment beside AS OF SOURCE: {text}", fix="leave one of them out")
        entry = None
        if table.catalog:
            catalog = self.catalogs.get(table.catalog.lower())
            if isinstance(catalog, LakeCatalog):
                entry = lake_entry(catalog, table)
        elif not session.is_of_engine(table):
            entry = session.entry(table)
        if entry is None or entry.read_optimized:
            raise SqlError(
                f"A query AS OF SOURCE reads what is not a table of the lake: {text}",
                fix="name the Hudi table into which it is loaded, with its logs",
            )
        return entry

    def _server(self, session: Session, entries: Sequence[Entry]) -> SourceServer:
        """The one server that loads all tables."""
        warehouses = [session.catalog.path] if isinstance(session.catalog, Warehouse) else []
        servers = source_servers(self.reading, self.catalogs.values(), warehouses)
        loaders = dict[int, SourceServer]()
        for entry in entries:
            own = {number: server for number, server in enumerate(servers) if server.sources(entry.location)}
            if not own:
                raise SqlError(
                    f"No database server loads the table {entry.name}",
                    found=f"{entry.location}, and the servers {', '.join(server.name for server in servers) or '(none)'}",
                    fix="leave the table out, or name the registry of its server (--registry)",
                )
            loaders |= own
        if len(loaders) > 1:
            raise SqlError(
                "Several servers load the tables of a query AS OF SOURCE, and they share no moment",
                found=", ".join(f"{loader.name} ({loader.cuts.storage.base_path})" for loader in loaders.values()),
                fix="read the tables of one server",
            )
        return next(iter(loaders.values()))


def _place(entry: Entry, server: SourceServer, cut: Cut) -> TablePlace:
    """The commit of a table at a cut. Raises SqlError where the table, or a shard of it, was not there."""
    sources = server.sources(entry.location)
    for source in sources:
        if (behind := cut.behind.get(source)) is not None:
            raise SqlError(
                f"The table {entry.name} was behind at cut {cut.number}: {source}",
                found=f"since {behind.since}: {behind.reason}",
                fix=f"name a cut at which it was not: `hudi-services cdc cuts {server.name}`. {behind.fix}",
            )
    for place in (cut.tables[source] for source in sources if source in cut.tables):
        if same_table(place.base_path, entry.location):
            return place
    raise SqlError(
        f"The table {entry.name} was not loaded at cut {cut.number}",
        found=cut_text(cut),
        fix=f"name a later cut: `hudi-services cdc cuts {server.name}`",
    )


def _dataset(session: Session, entry: Entry, place: TablePlace, cut: Cut, look: Look, *, meta: bool) -> HoodieDataset:
    table = session.open(entry)
    if not look.state(table).timeline.is_committed(Time.of(place.instant)):
        raise SqlError(
            f"The table {entry.name} does not have its commit {place.instant} of cut {cut.number} any more",
            found="a rollback or restore removed it, or the table was created again",
            fix="name a later moment",
        )
    return look.dataset(table, Snapshot(place.instant), meta_columns=meta)

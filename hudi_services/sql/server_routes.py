"""The tables that servers of a session load, and the names by which statements may call them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from hoodie.errors import SqlError
from hoodie.model.place import identity
from hoodie.storage import Storage
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.database_tables import (
    cut_store,
    loaded_tables,
    planned_tables,
    registered_sync,
    with_skipped,
)
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.sync_progress import ProgressStore
from hudi_services.sources.databases.plan_store import PlanStore
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.planner import Planner
from hudi_services.sources.databases.requests import RequestStore
from hudi_services.sources.databases.status import LoadedTable, TableStatus, server_status
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog, state_folder

_CLOSE = 5  # names in an error
Places = Callable[[LakeCatalog, str], str | None]
"""Function: a lake, one of its databases -> the folder of its tables (None: there is none)."""


@dataclass(frozen=True)
class ServerRoutes:
    """The `tables` that the server of the catalog `name` loads. `states` is its folder of states."""

    name: str
    catalog: ServerCatalog
    states: Storage
    tables: tuple[LoadedTable, ...]

    @property
    def requests(self) -> RequestStore:
        """The requests of users to the next run."""
        return RequestStore(self.states, self.catalog.name)

    def status(self) -> tuple[TableStatus, ...]:
        """Return how far the tables are. It asks the folder of states only, not the server."""
        cut = CutStore(self.states, self.catalog.name).latest()
        progress = ProgressStore(self.states, self.catalog.name).latest()
        return server_status(self.catalog.name, self.tables, cut, progress, datetime.now(UTC)).tables


def planned_sync(
    catalog: ServerCatalog, states: Storage, reading: Reading | None, environ: Mapping[str, str]
) -> PlannedSync:
    """Return the runs for the tables of a server, with the rules of the registry where that declares the server."""
    if catalog.is_registered and reading is not None:
        return registered_sync(catalog.name, reading, environ)
    planner = Planner(catalog.name, catalog.server, environ, {})
    return PlannedSync(planner, (), (), CutStore(states, catalog.name), PlanStore(states, catalog.name))


@dataclass(frozen=True)
class SessionRoutes:
    """Servers and lakes that statements of a session may name: its `catalogs`, and servers of the registry `reading`."""

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    reading: Reading | None

    def of(self, server: str | None) -> list[ServerRoutes]:
        """Return the routes of a server, None for all. Raises SqlError for a name that no server has."""
        servers = self._servers
        if server is not None and server not in servers:
            raise SqlError(
                f"There is no server {server}",
                found=_some(server, servers) or "no server in the session, and none in the registry",
                fix=f"CREATE CATALOG {server} WITH ('type'='mysql', …), or correct the name",
            )
        chosen = servers if server is None else {server: servers[server]}
        return [routes for name, catalog in chosen.items() for routes in self._server_routes(name, catalog)]

    def named(self, name: Sequence[str]) -> list[tuple[ServerRoutes, list[LoadedTable]]]:
        """Return the tables that are called `name`, with their servers: several, where shards go into one Hudi table.

        A name is that of a table in a lake, `lake.db.t`, at a server, `shop.db.t`, or in the registry. Raises SqlError for a name
        that no table has.
        """
        dotted_name = ".".join(name).lower()
        known: dict[str, None] = {}
        place = cache(_place)  # a thousand tables may be in one database
        results = []
        for routes in self.of(None):
            tables = []
            for table in routes.tables:
                names = list(self._names(routes, table, place))
                known |= dict.fromkeys(names)
                if dotted_name in (known_name.lower() for known_name in names):
                    tables.append(table)
            if tables:
                results.append((routes, tables))
        if not results:
            raise SqlError(
                f"No server loads a table {'.'.join(name)}",
                found=_some(dotted_name, known) or "no table that is loaded",
                fix="write its name with its catalog: lake.db.t, or shop.db.t as the server has it. SHOW ROUTES lists all",
            )
        return results

    @property
    def _servers(self) -> dict[str, ServerCatalog]:
        """Catalogs by their names, then servers of the registry that have a folder of states."""
        servers = {name: catalog for name, catalog in self.catalogs.items() if isinstance(catalog, ServerCatalog)}
        known = {catalog.name for catalog in servers.values() if catalog.is_registered}
        for name, server in self.reading.registry.servers.items() if self.reading is not None else ():
            if isinstance(server, DatabaseServer) and server.state is not None and name not in known:
                servers.setdefault(name.lower(), ServerCatalog(name, server, True))
        return servers

    @property
    def _lakes(self) -> dict[str, LakeCatalog]:
        return {name: catalog for name, catalog in self.catalogs.items() if isinstance(catalog, LakeCatalog)}

    def _server_routes(self, name: str, catalog: ServerCatalog) -> Iterator[ServerRoutes]:
        if catalog.is_registered and self.reading is not None:
            states = cut_store(catalog.name, self.reading).storage
            yield ServerRoutes(name, catalog, states, loaded_tables(catalog.name, self.reading))
            return
        lakes = self._lakes.values()
        if not lakes:
            raise SqlError(
                f"The server {name} has no folder of states",
                fix="CREATE CATALOG lake WITH ('type'='hudi', 'warehouse'=…): the warehouse that its tables are in has it",
            )
        folders = {(states := state_folder(catalog, lake)).base_path: states for lake in lakes}
        for states in folders.values():
            planned = planned_tables(catalog.name, PlanStore(states, catalog.name).latest())
            skipped = RequestStore(states, catalog.name).latest().skipped
            yield ServerRoutes(name, catalog, states, with_skipped(planned.values(), skipped))

    def _names(self, routes: ServerRoutes, table: LoadedTable, place: Places) -> Iterator[str]:
        for name, lake in self._lakes.items():
            folder, _, last = table.base_path.rstrip("/").rpartition("/")
            database = folder.rpartition("/")[2].removesuffix(".db")
            if place(lake, database) == identity(folder):
                yield f"{name}.{database}.{last}"
        yield f"{routes.name}.{table.table}"
        yield table.name


def _place(lake: LakeCatalog, database: str) -> str | None:
    try:
        return identity(lake.catalog.place_of(database))
    except SqlError:  # a metastore without this database
        return None


def _some(name: str, known: Iterable[str]) -> str:
    """The names that are close to one, otherwise the first."""
    names = {known_name.lower(): known_name for known_name in known}
    close = difflib.get_close_matches(name, names, n=_CLOSE) or list(names)[:_CLOSE]
    return ", ".join(names[match] for match in close)

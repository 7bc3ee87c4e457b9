"""The servers whose tables a session can read: those of the registry, of its catalogs, and of its warehouses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from hoodie.model.place import identity
from hoodie.storage import Storage, join, open_storage
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.database_tables import cut_store, loaded_tables
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.databases.plan_store import PlanStore
from hudi_services.sql.server_catalog import STATES, LakeCatalog, ServerCatalog


@dataclass(frozen=True)
class SourceServer:
    """The cuts of the server `name`, and the base paths of its tables by their names there."""

    name: str
    cuts: CutStore
    paths: Mapping[str, str]

    def sources(self, base_path: str) -> list[str]:
        """Return the tables of the server that are loaded into a Hudi table."""
        target = identity(base_path)
        return [source for source, path in self.paths.items() if identity(path) == target]


def source_servers(
    reading: Reading | None, catalogs: Collection[ServerCatalog | LakeCatalog], warehouses: Collection[str]
) -> list[SourceServer]:
    """Return the servers whose states are in the folders of the registry, of `catalogs`, and of `warehouses`.

    Raises CorruptTableError for a stored plan that cannot be read.
    """
    servers = dict[tuple[str, str], SourceServer]()
    if reading is not None:
        for name, server in reading.registry.servers.items():
            if isinstance(server, DatabaseServer) and server.state is not None:
                paths = {table.table: table.base_path for table in loaded_tables(name, reading)}
                servers[identity(server.state), name] = SourceServer(name, cut_store(name, reading), paths)
    for storage, name in _stored(catalogs, warehouses):
        key = (identity(storage.base_path), name)
        if key not in servers:
            servers[key] = SourceServer(name, CutStore(storage, name), PlanStore(storage, name).latest().paths)
    return list(servers.values())


def _stored(
    catalogs: Collection[ServerCatalog | LakeCatalog], warehouses: Collection[str]
) -> Iterator[tuple[Storage, str]]:
    """The folders of states that no registry declares, and the servers there."""
    for catalog in catalogs:
        if isinstance(catalog, ServerCatalog) and not catalog.is_registered and catalog.server.state is not None:
            yield open_storage(catalog.server.state), catalog.name
    lakes = {catalog.warehouse for catalog in catalogs if isinstance(catalog, LakeCatalog) and catalog.warehouse}
    for warehouse in sorted(lakes.union(warehouses)):
        storage = open_storage(join(warehouse, STATES))
        yield from ((storage, folder.rpartition("/")[2]) for folder in storage.list("").folders)

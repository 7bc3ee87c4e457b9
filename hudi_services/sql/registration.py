"""Registration of tables that servers load with the Hive metastore that is their catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hoodie.errors import CatalogError, HoodieError, TableNotFoundError
from hoodie.model.outcome import ServiceOutcome
from hoodie.model.place import identity
from hoodie.sql.catalog import Catalog
from hoodie.sql.names import TableName
from hoodie.sql.warehouse import Warehouse
from hoodie.sync.run import last_commit_properties
from hoodie.table import HoodieTable
from hudi_services.sql.server_catalog import LakeCatalog


def register_tables(lake: LakeCatalog, base_paths: Iterable[str]) -> tuple[ServiceOutcome, ...]:
    """Make the entries of tables equal to them, and return the failures. A folder finds its tables without entries.

    Each run looks at all tables of the metastore's databases, also without new commits: an earlier run may have failed. It leaves
    out those whose entry has the last commit, which a sync notes at its end.
    """
    if isinstance(lake.catalog, Warehouse):
        return ()
    return tuple(_failures(lake.catalog, sorted(set(base_paths))))


def _failures(catalog: Catalog, base_paths: Iterable[str]) -> Iterator[ServiceOutcome]:
    from hoodie.sql.hive import HiveCatalog  # needs the extra `hive`

    assert isinstance(catalog, HiveCatalog), "a catalog of statements is a folder or a metastore"
    try:
        databases = {identity(catalog.place_of(name)): name for name in catalog.databases()}
    except HoodieError as error:
        yield _failure("No table is registered", error)
        return
    registered: dict[str, dict[str, tuple[str, dict[str, str]]]] = {}
    for base_path in base_paths:
        folder, _, name = base_path.rstrip("/").rpartition("/")
        database = databases.get(identity(folder))
        if database is None:
            continue  # a statement about another catalog loads it
        table = TableName(database, name.lower())
        try:
            if database not in registered:
                registered[database] = catalog.registered(database)
            if not _is_registered(registered[database].get(table.name), base_path):
                catalog.register(table, base_path)
        except TableNotFoundError:
            continue  # its load has failed, and is reported
        except HoodieError as error:
            yield _failure(f"Table {table} is not registered", error)
            if isinstance(error, CatalogError) and not _answers(catalog):
                return


def _is_registered(entry: tuple[str, Mapping[str, str]] | None, base_path: str) -> bool:
    """True if the entry of a table, its place and properties, was synced after the last commit. Raises TableNotFoundError."""
    if entry is None or identity(entry[0]) != identity(base_path):
        return False
    noted = last_commit_properties(HoodieTable.open(base_path).state())
    return bool(noted) and all(entry[1].get(name) == value for name, value in noted.items())


def _answers(catalog: Catalog) -> bool:
    """True if the metastore refused one table only. Otherwise each of a thousand would wait for an answer."""
    try:
        catalog.databases()
    except CatalogError:
        return False
    return True


def _failure(title: str, error: HoodieError) -> ServiceOutcome:
    return ServiceOutcome("sync", f"{title}: {str(error).rstrip('.')}. The next run registers it", failed=True)

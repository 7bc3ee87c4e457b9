"""Catalogs of a session that statements create: servers of databases, and warehouses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from hoodie.errors import SqlError
from hoodie.sql.catalog import Catalog
from hoodie.sql.warehouse import Warehouse
from hoodie.storage import Storage, join, open_storage
from hudi_services.entry.mistake_text import mistake_message
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.database_server import database_server
from hudi_services.registry.load import Reading
from hudi_services.sql.replication import CreateCatalog

STATES = ".servers"
"""The folder of states in a warehouse, for servers that name none."""
_FLINK = ("hostname", "port", "username", "password", "base-url", "default-database")
_SERVER = {"connection": "connection", "server-id": "server_id", "tls": "tls", "ca": "ca", "state": "state"}
_SERVER |= {"hash-key": "hash_key"}


@dataclass(frozen=True)
class ServerCatalog:
    """A server by its `name`, which commits of its tables hold. `is_registered`: the registry declares it."""

    name: str
    server: DatabaseServer
    is_registered: bool


@dataclass(frozen=True)
class LakeCatalog:
    """Hudi tables of a warehouse or of a Hive metastore. `warehouse` is the folder of new ones, None for the metastore's own."""

    catalog: Catalog
    warehouse: str | None


def created_catalog(statement: CreateCatalog, reading: Reading | None) -> ServerCatalog | LakeCatalog:
    """Return the catalog of a statement. `reading` is the registry, if there is one.

    Raises SqlError for options that a catalog of its type does not have. Its message shows no value, which may be a password.
    """
    options = dict(statement.options)
    kind = options.pop("type", "")
    if kind == "hudi":
        return _lake(statement, options)
    if kind != "mysql":
        raise _wrong(statement, "type", "write 'type'='mysql' for a server, 'type'='hudi' for a warehouse")
    if flink := next((name for name in _FLINK if name in options), None):
        fix = "write 'connection'='shop_db' and set AIRFLOW_CONN_SHOP_DB=mysql://USER:PASSWORD@HOST:PORT: no statement holds it"
        raise _wrong(statement, flink, fix)
    if "server" in options:
        name = options.pop("server")
        if options or reading is None:
            fix = "'server' names a server of the registry (--registry), which says all else of it"
            raise _wrong(statement, next(iter(options), "server"), fix)
        return ServerCatalog(name, database_server(name, reading), True)
    if unknown := next((name for name in options if name not in _SERVER), None):
        raise _wrong(statement, unknown, f"write some of {', '.join(map(repr, ('server', *_SERVER)))}")
    return ServerCatalog(statement.name, _declared(statement, options), False)


def state_folder(source: ServerCatalog, lake: LakeCatalog) -> Storage:
    """Return the folder of states of a server that statements load into `lake`. Raises SqlError where neither names one."""
    if source.server.state is not None:
        return open_storage(source.server.state)
    if lake.warehouse is None:
        raise SqlError(
            f"The server {source.name} has no folder of states",
            found=f"{lake.catalog.path}, a catalog without a warehouse",
            fix="CREATE CATALOG … WITH ('type'='hudi', 'metastore'=…, 'warehouse'='/lake'), or give the server a 'state'",
        )
    return open_storage(join(lake.warehouse, STATES))


def _lake(statement: CreateCatalog, options: dict[str, str]) -> LakeCatalog:
    warehouse, metastore = options.pop("warehouse", None), options.pop("metastore", None)
    if options or not (warehouse or metastore):
        fix = "'type'='hudi' has the options 'warehouse'='/lake' and 'metastore'='thrift://host:9083'"
        raise _wrong(statement, next(iter(options), "warehouse"), fix)
    if not metastore:
        return LakeCatalog(Warehouse(str(warehouse)), warehouse)
    from hoodie.sql.hive import HiveCatalog  # needs the extra `hive`

    return LakeCatalog(HiveCatalog(metastore, warehouse=warehouse or None), warehouse or None)


def _declared(statement: CreateCatalog, options: Mapping[str, str]) -> DatabaseServer:
    values = {_SERVER[name]: value for name, value in options.items()}
    try:
        return DatabaseServer.model_validate({"type": "mysql", **values})
    except ValidationError as error:
        problem = error.errors()[0]
        names = {field: name for name, field in _SERVER.items()}
        option = names.get(str(problem["loc"][0]), str(problem["loc"][0]))
        raise _wrong(statement, option, f"'{option}' {mistake_message(problem, DatabaseServer, secret=True)}") from None


def _wrong(statement: CreateCatalog, option: str, fix: str) -> SqlError:
    return SqlError(f"The catalog {statement.name} cannot be created by its option {option!r}", fix=fix)

"""Statements about tables that servers load: SHOW ROUTES, and RESUME TABLE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from hoodie.display import some
from hoodie.sql.result import Result
from hudi_services.databases.status import TableStatus
from hudi_services.registry.load import Reading
from hudi_services.sql.replication import ShowRoutes, TableAction
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog
from hudi_services.sql.server_routes import SessionRoutes

_COLUMNS = ("source", "target", "state", "position", "reason")


@dataclass(frozen=True)
class RouteStatements:
    """Runs statements about tables that servers load into the lakes of `catalogs`, or by the registry `reading`."""

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    reading: Reading | None

    def run(self, said: ShowRoutes | TableAction) -> Result:
        """Run a statement. Raises SqlError for names that are not there."""
        routes = SessionRoutes(self.catalogs, self.reading)
        return _shown(routes, said.server) if isinstance(said, ShowRoutes) else _resumed(routes, said.name)


def _shown(routes: SessionRoutes, server: str | None) -> Result:
    rows = [
        (f"{one.name}.{table.table}", table.base_path, table.state, table.position, _reason(table))
        for one in routes.of(server)
        for table in one.status()
    ]
    columns = zip(*rows, strict=True) if rows else ([],) * len(_COLUMNS)
    return Result(
        pa.table({name: pa.array(values, pa.string()) for name, values in zip(_COLUMNS, columns, strict=True)})
    )


def _resumed(routes: SessionRoutes, name: tuple[str, ...]) -> Result:
    resumed: list[str] = []
    others: list[str] = []
    for one, tables in routes.named(name):
        names = {table.table for table in tables}
        status = [table for table in one.status() if table.table in names]
        parked = [table.table for table in status if table.state == "parked"]
        if parked:
            one.requests.resume(frozenset(parked))
        resumed += parked
        others += [f"{table.table} is {table.state}" for table in status if table.state != "parked"]
    if not resumed:
        return Result.told(f"nothing to resume: {some(others)}")
    return Result.told(f"the next run tries {some(resumed)} again")


def _reason(table: TableStatus) -> str:
    return f"{table.reason}. {table.fix}" if table.reason else ""

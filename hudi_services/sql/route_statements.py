"""Statements about tables that servers load: SHOW ROUTES, and RESUME, SKIP, VERIFY and RESYNC of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from hoodie.display import some
from hoodie.model.outcome import ServiceOutcome
from hoodie.sql.result import Result
from hudi_services.registry.load import Reading
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.databases.shard_resync import ShardResync
from hudi_services.sources.databases.shard_verification import ShardVerification
from hudi_services.sources.databases.status import TableStatus
from hudi_services.sql.replication import ShowRoutes, TableAction
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog
from hudi_services.sql.server_routes import SessionRoutes, planned_sync

_COMPARED = {
    "source": "source",
    "position": "position",
    "equal": "is_equal",
    "rows": "rows",
    "lake_rows": "lake_rows",
    **{name: name for name in ("missing", "surplus", "changed", "copied", "written")},
}
"""Columns of the result of a comparison, and what a report calls them."""
_WAITING = ("parked", "skipped")
"""States of tables that wait until a user resumes them."""
_LOADED = ("current", "failed", "loading")
"""States of tables whose rows may be read again."""
_COLUMNS = ("source", "target", "state", "position", "reason")


@dataclass(frozen=True)
class RouteStatements:
    """Runs statements about tables that servers load into the lakes of `catalogs`, or by the registry `reading`."""

    catalogs: Mapping[str, ServerCatalog | LakeCatalog]
    reading: Reading | None
    environ: Mapping[str, str]

    def run(self, statement: ShowRoutes | TableAction) -> Result:
        """Run a statement. Raises SqlError for names that are not there, and what the comparison of a table raises."""
        routes = SessionRoutes(self.catalogs, self.reading)
        if isinstance(statement, ShowRoutes):
            return _listing(routes, statement.server)
        if statement.verb == "SKIP":
            return _skipped(routes, statement.name)
        return (
            _resumed(routes, statement.name, fresh=statement.fresh)
            if statement.verb == "RESUME"
            else self._compared(routes, statement)
        )

    def _compared(self, routes: SessionRoutes, statement: TableAction) -> Result:
        """Compare a table with the server. The statement counts as failed where rows differ in the end."""
        reports = []
        for route, tables in routes.named(statement.name):
            sync = planned_sync(route.catalog, route.states, self.reading, self.environ)
            sync = replace(sync, rules=sync.all_rules)
            names = frozenset(table.table for table in tables)
            if sync.target(min(names)).is_merged:
                is_resync = statement.verb == "RESYNC"
                reports.append(ShardResync(sync, names).run() if is_resync else ShardVerification(sync, names).verify())
                continue
            for name in sorted(names):
                check = EqualityCheck(sync.load(name))
                reports.append(check.resync() if statement.verb == "RESYNC" else check.verify())
        rows = [row for report in reports for row in _compared_rows(report)]
        failed = [
            ServiceOutcome(statement.verb.lower(), f"{row['source']}: {_difference(row)}", failed=True)
            for row in rows
            if not row["equal"]
        ]
        return Result(pa.Table.from_pylist(rows), services=tuple(failed))


def _compared_rows(report: EqualityReport) -> Iterator[dict[str, Any]]:
    """The rows of a report: one, or one for each table that goes into one Hudi table."""
    if report.source.endswith("/*"):
        server = report.source.removesuffix("*")
        whole = {"position": report.position, "written": 0, "equal": False}
        none = dict.fromkeys(("rows", "lake_rows", "missing", "surplus", "changed", "copied"), 0)
        for name, table in report.tables.items():
            counts = {kind: getattr(table, kind) for kind in none} | {
                "written": table.differing if report.written else 0
            }
            equal = not table.differing or report.written > 0
            yield {"source": server + name, **whole, **counts, "equal": equal, "reason": table.note}
        for name, reason in report.left.items():
            yield {"source": server + name, **whole, **none, "reason": f"not compared: {reason}"}
        for name, count in report.others.items():
            yield {"source": server + name, **whole, **none, "surplus": count, "reason": "it was never loaded"}
        for name, count in report.removed.items():
            note = "nothing loads it any more"
            yield {"source": server + name, **whole, **none, "lake_rows": count, "equal": True, "reason": note}
        return
    yield {**{name: getattr(report, field) for name, field in _COMPARED.items()}, "reason": ""}


def _difference(row: Mapping[str, Any]) -> str:
    count = row["missing"] + row["surplus"] + row["changed"] + row["copied"]
    return f"{count:,} rows differ" if count else str(row["reason"])


def _listing(routes: SessionRoutes, server: str | None) -> Result:
    rows = [
        (f"{route.name}.{table.table}", table.base_path, table.state, table.position, _reason(table))
        for route in routes.of(server)
        for table in route.status()
    ]
    columns = zip(*rows, strict=True) if rows else ([],) * len(_COLUMNS)
    return Result(
        pa.table({name: pa.array(values, pa.string()) for name, values in zip(_COLUMNS, columns, strict=True)})
    )


def _resumed(routes: SessionRoutes, name: tuple[str, ...], *, fresh: bool) -> Result:
    resumed: list[str] = []
    others: list[str] = []
    for route, tables in routes.named(name):
        names = {table.table for table in tables}
        status = [table for table in route.status() if table.table in names]
        resumable = [table.table for table in status if table.state in _WAITING or (fresh and table.state in _LOADED)]
        if resumable:
            route.requests.resume(frozenset(resumable), fresh=fresh)
        resumed += resumable
        others += [f"{table.table} is {table.state}" for table in status if table.table not in resumable]
    if not resumed:
        return Result.of_message(f"nothing to resume: {some(others)}")
    return Result.of_message(f"the next run tries {some(resumed)} again")


def _skipped(routes: SessionRoutes, name: tuple[str, ...]) -> Result:
    skipped: list[str] = []
    for route, tables in routes.named(name):
        names = [table.table for table in tables]
        route.requests.skip(frozenset(names))
        skipped += names
    return Result.of_message(
        f"runs leave {some(skipped)} out until RESUME TABLE. The server has to keep its log for that long"
    )


def _reason(table: TableStatus) -> str:
    return f"{table.reason}. {table.fix}" if table.reason else ""

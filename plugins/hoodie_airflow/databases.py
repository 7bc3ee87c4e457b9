"""DAGs for each database server of the registry that has a schedule: however many tables it has, they are three."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, Param

from hoodie_airflow.assets import cuts_asset, database_outlet, rows_asset
from hoodie_airflow.comparison import resync_dag, verification_dag
from hoodie_airflow.connections import connections_of
from hoodie_airflow.cut_events import add_cut_events
from hoodie_airflow.paths import registry_file
from hoodie_airflow.server_services import HudiServerServicesOperator
from hoodie_airflow.task_result import check_form, failed
from hudi_services.entry.server import DatabaseServer, database_dag
from hudi_services.registry.load import read_registry
from hudi_services.runtime.failures import Failure

SYNC = "sync"
_MOST_NAMED = 5  # tables in a failure's message


def database_dags(file: Path | None = None) -> Iterator[DAG]:
    """Yield the DAGs of each server with a schedule. They connect to no server before they run."""
    place = file or registry_file()
    for name, server in read_registry(place).registry.servers.items():
        if isinstance(server, DatabaseServer) and server.schedule is not None:
            yield _dag(name, server, place)
            yield verification_dag(name, server, place)
            yield resync_dag(name, server, place)


def _dag(name: str, server: DatabaseServer, file: Path) -> DAG:
    with DAG(
        dag_id=database_dag(name),
        schedule=CronDataIntervalTimetable(server.schedule, timezone="UTC"),
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params={
            "resume": _tables("Resume", "Tables that are parked or left out: DATABASE.TABLE"),
            "skip": _tables("Skip", "Tables that runs leave out from now on, until you resume them: DATABASE.TABLE"),
        },
        tags=["hudi", "database"],
        description=f"Brings the tables that are loaded from {name} up to date",
        doc_md=f"`hudi-services cdc sync {name}` of `{file}`. A table that fails is parked, the others go on.",
        default_args={"owner": server.owner, "retries": 2},
    ) as dag:
        sync = HudiDatabaseOperator(task_id=SYNC, server=name, file=str(file))
        sync >> HudiTablesBehindOperator(task_id="behind", server=name)
        sync >> HudiServerServicesOperator(task_id="services", server=name, file=str(file))
    return dag


def _tables(title: str, description: str) -> Param:
    return Param([], type="array", items={"type": "string"}, title=title, description=description)


class HudiDatabaseOperator(BaseOperator):
    """Brings all tables of a server up to date. The result by table is its XCom.

    The task succeeds where tables are left behind, since the others have all changes, and events of assets say so.
    """

    def __init__(self, *, server: str, file: str, **kwargs: Any) -> None:
        super().__init__(inlets=[cuts_asset(server)], outlets=[database_outlet(server)], **kwargs)
        self.server = server
        self.file = file

    def execute(self, context: Any) -> dict[str, Any]:
        """Return the cut, its position, and the tables. Raises HoodieError where the server does not answer."""
        # It loads Arrow, and DAG files are parsed often.
        from hudi_services.registry.database_tables import asset_name, cut_store, database_tables, registered_sync

        check_form(context, ("resume", "skip"))
        reading = read_registry(self.file)
        declared = reading.registry.servers.get(self.server)
        environ = {**os.environ, **(connections_of(declared) if declared is not None else {})}
        result = registered_sync(self.server, reading, environ).run(
            resume=context["params"].get("resume") or (), skip=context["params"].get("skip") or ()
        )
        names = {source.table: table.name for table, source in database_tables(reading.registry, self.server)}
        for source, synced in result.tables.items():
            if synced.load.commits:
                name = names.get(source, asset_name(self.server, source))
                events = context["outlet_events"][database_outlet(self.server)]
                events.add(rows_asset(name), extra={"table": name, **asdict(synced.load)})
        add_cut_events(self.server, cut_store(self.server, reading).newest_first(), context)
        for name, table in sorted(result.tables.items()):
            load = table.load
            self.log.info(
                "%s: %s, %d rows, %d changes, %d commits", name, table.state, load.rows, load.changes, load.commits
            )
            if table.reason:
                self.log.error("%s is %s: %s. %s", name, table.state, table.reason, table.fix)
        values: dict[str, Any] = asdict(result)
        return values


class HudiTablesBehindOperator(BaseOperator):
    """Fails, without another try, when the run left a table of the server behind."""

    def __init__(self, *, server: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.server = server

    def execute(self, context: Any) -> None:
        """Raises AirflowFailException with the tables that are behind."""
        tables = context["ti"].xcom_pull(task_ids=SYNC)["tables"]
        behind = [f"{name}: {table['reason']}" for name, table in sorted(tables.items()) if table["reason"]]
        if behind:
            raise failed(_failure(self.server, behind), context)


def _failure(server: str, behind: list[str]) -> Failure:
    more = len(behind) - _MOST_NAMED
    result = "; ".join([*behind[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
    fix = f"`hudi-services cdc status {server}` says what helps. Then run the DAG with the tables in `resume`"
    title = f"{len(behind):,} tables of {server} are behind" if len(behind) > 1 else f"A table of {server} is behind"
    return Failure("TablesBehind", title, result, fix, 1, retryable=False)

"""DAGs that compare tables of a database server with the lake: all at one cut, or one whose rows are then corrected."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, Param

from hoodie.errors import ConfigError
from hoodie_airflow.connections import connections_of
from hoodie_airflow.task_result import bounded, check_form, failed, refused
from hudi_services.entry import server as dags
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.load import Reading, read_registry
from hudi_services.runtime.failures import Failure

_MOST_NAMED = 5  # tables in a failure's message
_MINUTES = 60
_START = datetime(2000, 1, 1, tzinfo=UTC)


def verification_dag(name: str, server: DatabaseServer, file: Path) -> DAG:
    """Return the DAG that compares all tables of a server at one cut, by its `verify_schedule`, or by hand."""
    cron = server.verify_schedule
    with DAG(
        dag_id=dags.verify_dag(name),
        schedule=CronDataIntervalTimetable(cron, timezone="UTC") if cron is not None else None,
        start_date=_START,
        catchup=False,
        max_active_runs=1,
        params={
            "minutes": Param(
                _MINUTES,
                type="integer",
                minimum=1,
                title="Minutes",
                description="After this time no comparison begins. The next run begins with the tables that are left.",
            ),
            "tables": Param(
                [],
                type="array",
                items={"type": "string"},
                title="Tables",
                description="Only these: DATABASE.TABLE. All tables without any.",
            ),
        },
        tags=["hudi", "database"],
        description=f"Compares all tables that are loaded from {name} with the server, at one cut",
        default_args={"owner": server.owner, "retries": 2},
    ) as dag:
        HudiVerifyOperator(task_id="verify", server=name, file=str(file))
    return dag


def resync_dag(name: str, server: DatabaseServer, file: Path) -> DAG:
    """Return the DAG that compares one table and writes what differs, after a person has confirmed it."""
    with DAG(
        dag_id=dags.resync_dag(name),
        schedule=None,
        start_date=_START,
        catchup=False,
        max_active_runs=1,
        params={
            "table": Param(
                type="string",
                pattern=r"^[^.\s]+\.[^\s]+$",
                title="Table",
                description="The table at the server: DATABASE.TABLE",
            )
        },
        tags=["hudi", "database"],
        description=f"Compares a table that is loaded from {name}, and writes the rows that differ",
        default_args={"owner": server.owner, "retries": 0},
    ) as dag:
        plan = HudiResyncPlanOperator(task_id="plan", server=name, file=str(file))
        confirm = ApprovalOperator(
            task_id="confirm",
            subject=f"Resync a table of {name}",
            body="{{ ti.xcom_pull(task_ids='plan')['message'] }}",
        )
        plan >> confirm >> HudiResyncOperator(task_id="resync", server=name, file=str(file))
    return dag


class _ServerOperator(BaseOperator):
    """A task about the database server `server` of the registry `file`."""

    def __init__(self, *, server: str, file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.server = server
        self.file = file

    def declared(self) -> tuple[Reading, Mapping[str, str]]:
        """Return the registry, and the environment with the connection of the server."""
        reading = read_registry(self.file)
        server = reading.registry.servers.get(self.server)
        return reading, {**os.environ, **(connections_of(server) if server is not None else {})}


class HudiVerifyOperator(_ServerOperator):
    """Compares all tables of a server with the lake, at one cut. The result by table is its XCom.

    The task fails, without another try, when rows differ. Tables that cannot be compared, or that no time is left for, do not
    fail it: the result says which they are, and why.
    """

    def execute(self, context: Any) -> dict[str, Any]:
        """Return the number of tables by their result, the cut, and those that are not equal. Raises AirflowFailException."""
        # It loads Arrow, and DAG files are parsed often.
        from hudi_services.registry.database_tables import registered_sync
        from hudi_services.sources.databases.verification import ServerVerification

        check_form(context, ("minutes", "tables"))
        reading, environ = self.declared()
        sync = registered_sync(self.server, reading, environ)
        params = context["params"]
        seconds, only = 60 * int(params.get("minutes") or _MINUTES), frozenset(params.get("tables") or ())
        tables = ServerVerification(sync, seconds, only).run()
        others = [table for table in tables if table.state != "equal"]
        for table in others:
            self.log.warning("%s: %s %s", table.table, table.state, table.reason or f"in {table.differing:,} rows")
        for table in tables:
            if table.state == "equal" and table.reason:
                self.log.info("%s: equal, %s", table.table, table.reason)
        counts = Counter(table.state for table in tables)
        message = f"cut {tables[0].cut}: " if tables else ""
        message += (
            f"{counts['equal']:,} tables are equal, {counts['differs']:,} differ, {counts['left']:,} were left out"
        )
        self.log.info("%s", message)
        values = {"message": message, "counts": dict(counts), "tables": [asdict(table) for table in others]}
        result = bounded(values, "tables", "verification", ("message", "counts"), context)
        differing = [f"{table.table} in {table.differing:,} rows" for table in tables if table.state == "differs"]
        if differing:
            context["ti"].xcom_push("return_value", result)
            raise failed(_differs(self.server, differing), context)
        return result


class HudiResyncPlanOperator(_ServerOperator):
    """Says which Hudi table a resync would change. It asks the lake only."""

    def execute(self, context: Any) -> dict[str, Any]:
        """Return the message for the person who confirms. Raises AirflowFailException for a table that is not loaded."""
        from hudi_services.registry.database_tables import loaded_tables

        check_form(context, ("table",))
        name = str(context["params"].get("table") or "")
        matches = [loaded for loaded in loaded_tables(self.server, self.declared()[0]) if loaded.table == name]
        if not matches:
            raise refused(
                ConfigError(f"No table {name!r:.200} is loaded from {self.server}", fix="name a table of its page"),
                context,
            )
        table = matches[0]
        text = (
            f"All rows of `{table.table}` at the server {self.server} are compared with those of `{table.base_path}`. "
        )
        return {"message": f"{text}Rows that differ are written in one commit.", "base_path": table.base_path}


class HudiResyncOperator(_ServerOperator):
    """Compares all rows of a table, and writes those that differ."""

    def execute(self, context: Any) -> dict[str, Any]:
        """Return what was compared and written. Raises HoodieError."""
        from hudi_services.registry.database_tables import registered_sync
        from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
        from hudi_services.sources.databases.shard_resync import ShardResync

        reading, environ = self.declared()
        sync, name = registered_sync(self.server, reading, environ), str(context["params"]["table"])
        if sync.target(name).is_merged:  # the others of the Hudi table stay at their places
            report = ShardResync(sync, frozenset([name]), limit=0).run()
        else:
            report = EqualityCheck(sync.load(name), limit=0).resync()
        self.log.info("%s: %d rows differed, %d were written", report.source, report.differing, report.written)
        return asdict(report)


def _differs(server: str, differing: list[str]) -> Failure:
    more = len(differing) - _MOST_NAMED
    result = "; ".join([*differing[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
    title = (
        f"{len(differing):,} tables differ from {server}" if len(differing) > 1 else f"A table differs from {server}"
    )
    fix = f"run the DAG {dags.resync_dag(server)} with the table, which writes the rows that differ"
    return Failure("TablesDiffer", title, result, fix, 1, retryable=False)

"""Database servers: tables that their synchronisation leaves behind, and logs that they are about to remove."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from hudi_services.entry.schedule import begin_after
from hudi_services.operations.advice.model import Advice, Severity, length
from hudi_services.sources.databases.status import ServerStatus, TableStatus

_LOG_LEFT = timedelta(days=1)
"""The server's log that a table needs is a risk if it is kept for less than this."""
_SEVERITIES = {
    "parked": Severity.FAILED,
    "failed": Severity.FAILED,
    "refused": Severity.FAILED,
    "skipped": Severity.WAITING,
}
_WAITS = {
    "parked": "The runs of the server leave it out until a user has repaired that.",
    "failed": "The next run of the server tries it again.",
    "refused": "The plan of the server leaves it out until a user has changed that.",
    "skipped": "A user has left it out.",
}


def server(status: ServerStatus, schedule: str | None, now: datetime) -> Iterator[Advice]:
    """The log that is needed and will soon be gone, runs that do not come, then each table that is left behind. `schedule` (cron)
    is that of the runs."""
    yield from _log(status)
    yield from _late(status, schedule, now)
    yield from (_behind(status, table) for table in status.tables if table.state in _SEVERITIES)


def of_table(advice: Iterable[Advice], server: str, table: str) -> Iterator[Advice]:
    """Those that concern one table of the server: its own, and those of the server, which feeds it."""
    for item in advice:
        if item.table == table:
            yield item
        elif item.table == server:
            yield replace(item, table=table)


def _log(status: ServerStatus) -> Iterator[Advice]:
    log, sync = status.log, f"hudi-services cdc sync {shlex.quote(status.server)}"
    if log is None:
        return
    if log.without:
        text = f"The log of server {status.server} no longer has {log.position}, which its tables need"
    elif log.seconds is not None and log.seconds < _LOG_LEFT.total_seconds():
        retention_text = f"for {length(log.seconds)} more" if log.seconds > 0 else "no longer for certain"
        text = f"Server {status.server} keeps its log from {log.position} on {retention_text}, and its tables need it"
    else:
        return
    yield Advice(status.server, Severity.LOSS, "server log", status.server, text, fix=sync)


def _late(status: ServerStatus, schedule: str | None, now: datetime) -> Iterator[Advice]:
    """The last run that brought changes began two starts of the schedule ago."""
    if schedule is None or status.time is None or status.running is not None:
        return
    cut = datetime.fromisoformat(status.time)
    first = begin_after(schedule, cut)
    second = begin_after(schedule, first) if first is not None else None
    if second is None or second >= now:
        return
    yield Advice(
        status.server,
        Severity.FAILED,
        "server lag",
        status.server,
        f"No run of server {status.server} has brought its changes, though its schedule is '{schedule}'",
        cut,
        fix=f"hudi-services cdc sync {shlex.quote(status.server)}",
    )


def _behind(status: ServerStatus, table: TableStatus) -> Advice:
    reason = f": {table.reason.rstrip('.')}" if table.reason else ""
    return Advice(
        table.name,
        _SEVERITIES[table.state],
        "server",
        f"{status.server} {table.table}",
        f"Server {status.server} has {table.table} as {table.state}{reason}",
        datetime.fromisoformat(table.since) if table.since else None,
        fix=f"hudi-services cdc status {shlex.quote(status.server)}",
        remedy=f"{table.fix.rstrip('.')}." if table.fix else "",
        waits=_WAITS[table.state],
    )

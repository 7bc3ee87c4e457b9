"""Database servers whose tables are behind, by the folders of their state. No server is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from hoodie.times import span
from hudi_services.entry.alerts import Alerts
from hudi_services.entry.server import DatabaseServer
from hudi_services.operations.alerts.conditions import Observation, Trouble, joined
from hudi_services.registry.load import Reading, Registry
from hudi_services.sources.databases.status import ServerStatus

_BEHIND = ("parked", "failed", "refused")

_log = logging.getLogger(__name__)


def standing_servers(alerts: Alerts, registry: Registry, now: datetime) -> Observation:
    """Return the servers and tables that have been behind for longer than `servers`. A few calls of a storage for each server.

    A folder that cannot be read is in the log, and alerts of servers stay as they were.
    """
    if alerts.servers is None:
        return Observation(())
    names = [
        name
        for name, server in registry.servers.items()
        if isinstance(server, DatabaseServer) and server.state is not None
    ]
    return joined(_of_server(name, registry, alerts.servers, now) for name in names)


def _of_server(name: str, registry: Registry, limit: timedelta, now: datetime) -> Observation:
    try:
        # Imported here: where no server is declared, a watcher starts a second sooner without the readers of its log.
        from hudi_services.registry.database_tables import status_of

        return Observation(tuple(behind(status_of(name, Reading(registry, ()), now), limit, now)))
    except Exception as error:  # noqa: BLE001 - those of storages too: the alerts of other servers are sent
        _log.warning("The state of the server %s cannot be read, so its lag is not known: %s", name, error)
        return Observation((), frozenset({("server", None)}))


def behind(status: ServerStatus, limit: timedelta, now: datetime) -> Iterator[Trouble]:
    """Yield an alert for an old cut, which all current tables share, and one for each table that is behind by itself.

    A server without a cut has none: its first run may take days.
    """
    if status.time is not None and status.age is not None and status.age >= limit.total_seconds():
        text = f"its tables lack what came in the last {span(limit.total_seconds())} or longer: no run got to its end"
        yield Trouble("server", status.server, "", text, datetime.fromisoformat(status.time))
    for table in status.tables:
        since = datetime.fromisoformat(table.since) if table.since else None
        if table.state in _BEHIND and (since is None or now - since >= limit):
            yield Trouble("server", table.name, status.server, f"it is {table.state}: {table.reason}", since)

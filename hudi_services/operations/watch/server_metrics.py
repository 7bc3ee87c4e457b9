"""Gauges of database servers for Prometheus: taken from the folders of their state at each scrape. No server is asked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hoodie.clock import Clock
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.database_tables import status_of
from hudi_services.registry.load import Reading
from hudi_services.sources.databases.status import ServerStatus

_log = logging.getLogger(__name__)

_GAUGES: dict[str, tuple[str, Callable[[ServerStatus], float | None]]] = {
    "cut_timestamp_seconds": (
        "The server's time at the last cut.",
        lambda status: datetime.fromisoformat(status.time).timestamp() if status.time is not None else None,
    ),
    "lag_p50_seconds": (
        "The lag of half of the tables at most.",
        lambda status: status.lag.p50 if status.lag is not None else None,
    ),
    "lag_p99_seconds": (
        "The lag of 99 of 100 tables at most.",
        lambda status: status.lag.p99 if status.lag is not None else None,
    ),
    "log_left_seconds": (
        "The time for which the server keeps the log that is still needed.",
        lambda status: status.log.seconds if status.log is not None else None,
    ),
}


class ServerCollector(Collector):
    """All database servers of a registry with a folder for their state.

    A folder that cannot be read is the gauge `hudi_server_up` of 0, and no other gauge of its server.
    """

    def __init__(self, read: Callable[[], Reading], clock: Clock) -> None:
        self._read = read
        self._clock = clock

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily(
            "hudi_server_up", "1 if the folder of the server's state can be read.", labels=["server"]
        )
        tables = GaugeMetricFamily("hudi_server_tables", "Tables by state.", labels=["server", "state"])
        gauges = {
            name: GaugeMetricFamily(f"hudi_server_{name}", text, labels=["server"])
            for name, (text, _) in _GAUGES.items()
        }
        reading = self._read()
        for server, declared in reading.registry.servers.items():
            if not isinstance(declared, DatabaseServer) or declared.state is None:
                continue
            status = self._status(server, reading)
            up.add_metric([server], 1 if status is not None else 0)
            if status is None:
                continue
            for state, count in Counter(table.state for table in status.tables).items():
                tables.add_metric([server, state], count)
            for name, (_, value_of) in _GAUGES.items():
                value = value_of(status)
                if value is not None:
                    gauges[name].add_metric([server], value)
        return [up, tables, *gauges.values()]

    def _status(self, server: str, reading: Reading) -> ServerStatus | None:
        try:
            return status_of(server, reading, self._clock.now())
        except Exception as error:  # noqa: BLE001 - those of storages too: the metrics of other servers are answered
            _log.warning("The state of the server %s cannot be read: %s", server, error)
            return None

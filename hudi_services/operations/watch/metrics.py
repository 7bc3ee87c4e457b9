"""Metrics of the store for Prometheus: a gauge a fact and table, taken from the store at each scrape."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Iterable
from http.server import HTTPServer
from typing import Any

from prometheus_client import start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from hoodie.errors import ConfigError, StoreError
from hudi_services.operations.watch.model import Summary
from hudi_services.operations.watch.store import SnapshotStore

_log = logging.getLogger(__name__)

_GAUGES: dict[str, tuple[str, Callable[[Summary], float | None]]] = {
    "looked_at_timestamp_seconds": ("When the table was looked at.", lambda summary: summary.looked_at.timestamp()),
    "last_commit_timestamp_seconds": (
        "When its last commit was completed.",
        lambda summary: summary.last_commit.timestamp() if summary.last_commit is not None else None,
    ),
    "rows": ("Rows of its base files.", lambda summary: summary.rows),
    "bytes": ("Bytes of its current files.", lambda summary: summary.bytes),
    "files": ("Its current files.", lambda summary: summary.files),
    "small_files": ("Its base files up to 32 MiB.", lambda summary: summary.small_files),
    "log_bytes": ("Bytes of its logs.", lambda summary: summary.log_bytes),
    "log_files": ("Its logs.", lambda summary: summary.log_files),
    "partitions": ("Its partitions.", lambda summary: summary.partitions),
    "timeline_instants": ("Instants of its active timeline.", lambda summary: summary.instants),
    "pending_instants": ("Instants of its active timeline that are not complete.", lambda summary: summary.pending),
    "objectives_missed": ("Objectives that it misses.", lambda summary: len(summary.missed)),
    "urgency": ("How many times its limit the most urgent objective is.", lambda summary: summary.urgency),
}


class TableCollector(Collector):
    """All tables of a store. A store that is away is the gauge `hudi_store_up` of 0, and no table."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily("hudi_store_up", "1 if the snapshot store answers, otherwise 0.")
        try:
            fleet = self._store.fleet()
        except StoreError as error:
            _log.warning("%s", error)
            up.add_metric([], 0)
            return [up]
        up.add_metric([], 1)
        health = GaugeMetricFamily(
            "hudi_table_health",
            "1 with what the table is like: ok, missed, blocked, unreadable …",
            labels=["table", "health"],
        )
        metrics: list[Metric] = [up, health]
        for summary in fleet:
            health.add_metric([summary.table, summary.health], 1)
        for name, (text, value_of) in _GAUGES.items():
            gauge = GaugeMetricFamily(f"hudi_table_{name}", text, labels=["table"])
            for summary in fleet:
                value = value_of(summary)
                if value is not None:
                    gauge.add_metric([summary.table], value)
            metrics.append(gauge)
        return metrics


def serve_metrics(store: SnapshotStore, place: str, *more: Collector) -> tuple[HTTPServer, str]:
    """Answer Prometheus at `place`, a port or `host:port` of this machine, in a thread. Returns the server, and its
    address.

    `more` collect metrics beside those of the tables of the store.

    Raises ConfigError for another host, since metrics have no password, and for a port that is taken.
    """
    host, _, port = place.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or not 0 <= int(port) < 65536:
        raise ConfigError(
            "The address for metrics is not valid",
            found=repr(place),
            fix="give a port, such as 9464, or 127.0.0.1:9464",
        )
    if not _is_loopback(host):
        raise ConfigError(
            "Metrics are served to this machine only, as they need no password",
            found=f"the host {host!r}",
            fix=f"give 127.0.0.1:{port}, and put a proxy with a password, or Prometheus' own agent, in front of it",
        )
    registry = CollectorRegistry()
    for collector in (TableCollector(store), *more):
        registry.register(collector)
    try:
        server, _thread = start_http_server(int(port), addr=host, registry=registry)
    except OSError as error:
        raise ConfigError(
            f"Metrics cannot be answered at {host}:{port}", found=str(error), fix="choose another port"
        ) from error
    result: Any = server
    return result, f"http://{host}:{result.server_port}/metrics"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

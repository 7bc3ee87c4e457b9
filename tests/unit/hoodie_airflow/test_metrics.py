"""A run's cost and work as Airflow's metrics: by name and tags, to a collector of OpenTelemetry, never at the run's cost."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

from hoodie.model.outcome import ServiceOutcome
from hoodie_airflow.metrics import tell_metrics
from hoodie_airflow.subprocess_runner import child_environment
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import Cost, Explained, Gain, ServiceResult

DONE = ServiceResult(
    "compact",
    "fine",
    "20260101000000000",
    rows_written=10,
    bytes_read=100,
    seconds=1.5,
    gain=Gain(log_bytes_merged=7, bytes_freed=0),
    cost=Cost(cpu_seconds=2.5, peak_memory=1 << 30),
    uncounted=("bytes_written",),
)


class Backend:
    """Airflow's own seam: what a client of StatsD or OpenTelemetry is asked for."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any, dict[str, str]]] = []

    def incr(self, stat: str, count: int = 1, rate: float = 1, *, tags: dict[str, str] | None = None) -> None:
        self.told.append((stat, count, tags or {}))

    def timing(self, stat: str, dt: Any, *, tags: dict[str, str] | None = None) -> None:
        self.told.append((stat, dt, tags or {}))

    def gauge(self, stat: str, value: float, *_: Any, tags: dict[str, str] | None = None) -> None:
        self.told.append((stat, value, tags or {}))


@pytest.fixture
def backend() -> Iterator[Backend]:
    found = Backend()
    stats.initialize(factory=lambda: found, export_legacy_names=True)  # type: ignore[arg-type,return-value]
    yield found
    stats.initialize(factory=get_stats_factory(), export_legacy_names=True)


def test_the_lag_of_a_stream_is_a_gauge(backend: Backend) -> None:
    tell_metrics(ServiceResult("stream", "1 row", lag_seconds=2.5), "orders", "stream")
    assert ("hudi.service.lag_seconds", 2.5, {"table": "orders", "service": "stream"}) in backend.told
    backend.told.clear()
    tell_metrics(DONE, "orders", "compact")
    assert not [name for name, *_ in backend.told if "lag" in name]


def test_a_run_is_told_by_table_and_service(backend: Backend) -> None:
    tell_metrics(DONE, "orders", "compact")
    tags = {"table": "orders", "service": "compact"}
    assert backend.told == [
        ("hudi.service.runs", 1, {**tags, "outcome": "done"}),
        ("hudi.service.seconds", timedelta(seconds=1.5), tags),
        ("hudi.service.cpu_seconds", timedelta(seconds=2.5), tags),
        ("hudi.service.rows_written", 10, tags),
        ("hudi.service.bytes_read", 100, tags),
        ("hudi.service.log_bytes_merged", 7, tags),
    ]


def test_failures_have_the_name_of_their_error(backend: Backend) -> None:
    tell_metrics(Failure("LockHeldError", "what", None, None, 1, True), "orders", "clean")
    tell_metrics(
        ServiceResult("ingest", "m", services=(ServiceOutcome("clean", "no", failed=True),)), "orders", "ingest"
    )
    tell_metrics(Explained("clean", "text", {}), "orders", "clean")
    told = [(stat, tags.get("outcome") or tags.get("error")) for stat, _, tags in backend.told if "seconds" not in stat]
    assert told == [
        ("hudi.service.runs", "failed"),
        ("hudi.service.failures", "LockHeldError"),
        ("hudi.service.runs", "nothing"),
        ("hudi.service.failures", "after_commit_clean"),
    ]


def test_plain_statsd_has_table_and_service_in_the_name(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_ON", "True")
    tell_metrics(DONE, "orders", "compact")
    assert [stat for stat, *_ in backend.told] == [
        "hudi.orders.compact.runs.done",
        "hudi.orders.compact.seconds",
        "hudi.orders.compact.cpu_seconds",
        "hudi.orders.compact.rows_written",
        "hudi.orders.compact.bytes_read",
        "hudi.orders.compact.log_bytes_merged",
    ]
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_INFLUXDB_ENABLED", "True")
    backend.told.clear()
    tell_metrics(DONE, "orders", "compact")
    assert backend.told[0][0] == "hudi.service.runs"


def test_trouble_with_metrics_is_told_and_no_more(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no route")

    backend.incr = refuse  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        tell_metrics(DONE, "orders", "compact")
    assert "The metrics of this run are lost: OSError: no route" in caplog.text


@pytest.mark.process
def test_a_collector_of_opentelemetry_gets_them() -> None:
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = (
        "from airflow.sdk.observability import stats\n"
        "from airflow.sdk.observability.metrics.stats_utils import get_stats_factory\n"
        "stats.initialize(factory=get_stats_factory(), export_legacy_names=True)\n"
        "from hoodie_airflow.metrics import tell_metrics\n"
        "from hudi_services.runtime.result import ServiceResult\n"
        "tell_metrics(ServiceResult('clean', 'm', '1', rows_written=3, seconds=2.0), 'orders', 'clean')\n"
        "from opentelemetry import metrics\n"
        "metrics.get_meter_provider().force_flush()\n"
    )
    settings = {
        "AIRFLOW__METRICS__OTEL_ON": "True",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "NO_PROXY": "*",
    }
    subprocess.run([sys.executable, "-c", code], env={**child_environment(), **settings}, check=True, timeout=60)
    server.shutdown()
    sent = b"".join(bodies)
    for each in (b"hudi.service.rows_written", b"hudi.service.seconds", b"orders", b"clean"):
        assert each in sent

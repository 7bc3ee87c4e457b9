"""Metrics of a service's run for Airflow: costs and work, to StatsD or OpenTelemetry, whichever it is set up with."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import Report, ServiceResult

_log = logging.getLogger(__name__)

_COUNTS = (
    "rows_read",
    "rows_written",
    "rows_quarantined",
    "bytes_read",
    "bytes_written",
    "files_written",
    "files_deleted",
)
_GAINS = ("bytes_freed", "log_bytes_merged")


def tell_metrics(report: Report, table: str, service: str) -> None:
    """`hudi.service.runs`, `.failures`, `.seconds`, `.lag_seconds` and counts, with the tags `table` and `service`.

    The names are `hudi.<table>.<service>.…` if Airflow's metrics have no tags (plain StatsD). Explained plans are no runs. No
    trouble with metrics is one of the run.
    """
    try:
        # Imported here: DAG files are parsed often.
        from airflow.sdk.observability import stats

        tags = {"table": table, "service": service}
        prefix = "hudi.service" if _have_tags() else f"hudi.{table}.{service}"
        for name, amount, more in _metrics(report):
            full = f"{prefix}.{name}" if _have_tags() else ".".join([prefix, name, *more.values()])
            if isinstance(amount, float):
                stats.gauge(full, amount, tags={**tags, **more})
            elif isinstance(amount, timedelta):
                stats.timing(full, amount, tags={**tags, **more})
            else:
                stats.incr(full, amount, tags={**tags, **more})
    except Exception as error:  # noqa: BLE001 - any error of a metrics client
        _log.warning("The metrics of this run are lost: %s: %s", type(error).__name__, error)


def _metrics(report: Report) -> Iterator[tuple[str, int | float | timedelta, dict[str, str]]]:
    """Name, amount, and tags in addition to those of all."""
    match report:
        case ServiceResult():
            yield "runs", 1, {"outcome": "done" if report.instant is not None else "nothing"}
            yield "seconds", timedelta(seconds=report.seconds), {}
            if report.cost.cpu_seconds is not None:
                yield "cpu_seconds", timedelta(seconds=report.cost.cpu_seconds), {}
            if report.lag_seconds is not None:
                yield "lag_seconds", float(report.lag_seconds), {}
            counts = {name: getattr(report, name) for name in _COUNTS if name not in report.uncounted}
            counts |= {name: getattr(report.gain, name) for name in _GAINS}
            for name, amount in counts.items():
                if amount:
                    yield name, int(amount), {}
            for service in report.services:
                if service.failed:
                    yield "failures", 1, {"error": f"after_commit_{service.service}"}
        case Failure():
            yield "runs", 1, {"outcome": "failed"}
            yield "failures", 1, {"error": report.error}


def _have_tags() -> bool:
    from airflow.sdk.configuration import conf

    def on(name: str) -> bool:
        return bool(conf.getboolean("metrics", name, fallback=False))

    return on("statsd_datadog_enabled") or not on("statsd_on") or on("statsd_influxdb_enabled")

"""Fields of each line that a task logs: Airflow's logs are lines of JSON, which collectors search by field."""

from __future__ import annotations

from structlog.contextvars import bind_contextvars

from hudi_services.cli.json_logs import INSTANT, SERVICE, TABLE


def log_fields(table: str, service: str) -> None:
    """Add table and service to all that this task logs from now on."""
    bind_contextvars(**{TABLE: table, SERVICE: service})


def log_instant(instant: str) -> None:
    """Add the instant that the run made, once it is known, to the log."""
    bind_contextvars(**{INSTANT: instant})

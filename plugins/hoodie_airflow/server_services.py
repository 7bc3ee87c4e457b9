"""The task that runs services of the tables of rules, in the DAG of their server."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import BaseOperator

from hoodie_airflow.task_result import bounded, failed
from hudi_services.registry.load import read_registry
from hudi_services.runtime.failures import Failure

_LEAST = 10.0
"""Seconds for services where no time is left: services that never begin would let tables grow for ever."""
_NO_INTERVAL = 60.0  # seconds, of a run that no schedule began
_MOST_NAMED = 5  # services in a failure's message


class HudiServerServicesOperator(BaseOperator):
    """Runs services of the tables of rules that are due, until the next run of the DAG is due.

    The task fails, without another try, when a service fails. Services that are due and that no time was left for do not fail
    it: the result says which they are.
    """

    def __init__(self, *, server: str, file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.server = server
        self.file = file

    def execute(self, context: Any) -> dict[str, Any]:
        """Return the number of services by their result, and all of them. Raises AirflowFailException."""
        # It loads Arrow, and DAG files are parsed often.
        from hudi_services.registry.database_tables import plan_store
        from hudi_services.sources.databases.server_services import ServerServices

        seconds = seconds_left(context["dag_run"], datetime.now(UTC))
        plan = plan_store(self.server, read_registry(self.file)).latest()
        runs = []
        for run in ServerServices(plan, seconds).run():
            runs.append(run)
            log = self.log.info if run.state == "done" else self.log.warning
            log("%s of %s: %s (%s), %s", run.service, run.base_path, run.state, run.due, run.message)
        counts = Counter(run.state for run in runs)
        message = (
            f"{counts['done']:,} services were run, {counts['failed']:,} failed, {counts['left']:,} are due and wait"
        )
        self.log.info("%s", message)
        sorted_runs = sorted(runs, key=lambda run: run.state == "done")
        values = {"message": message, "counts": dict(counts), "services": [asdict(run) for run in sorted_runs]}
        result = bounded(values, "services", "services", ("message", "counts"), context)
        broken = [f"{run.service} of {run.base_path}: {run.message}" for run in runs if run.state == "failed"]
        if broken:
            context["ti"].xcom_push("return_value", result)
            more = f"; and {len(broken) - _MOST_NAMED:,} more" if len(broken) > _MOST_NAMED else ""
            failures = f"{'; '.join(broken[:_MOST_NAMED])}{more}"
            fix = "the log of this task says what helps. The next run tries again"
            raise failed(
                Failure("ServicesFailed", f"{len(broken):,} services failed", failures, fix, 1, False), context
            )
        return result


def seconds_left(run: Any, now: datetime) -> float:
    """Return the seconds until the next run of the DAG is due, by the interval of this `run` and its start."""
    if not run.data_interval_start or not run.data_interval_end:
        return _NO_INTERVAL
    interval = (run.data_interval_end - run.data_interval_start).total_seconds()
    began = getattr(run, "start_date", None) or now
    return float(max(_LEAST, interval - (now - began).total_seconds()))

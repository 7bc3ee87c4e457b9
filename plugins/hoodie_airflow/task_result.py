"""The end of a task by the report of its service: in the log, as XComs, in the asset's event, or by how the task fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from airflow.exceptions import AirflowException
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from hoodie.errors import ConfigError, HoodieError, TablePausedError
from hoodie_airflow.assets import outlet, table_asset
from hoodie_airflow.forms import DIGEST, only_names
from hoodie_airflow.log_context import log_instant
from hoodie_airflow.metrics import tell_metrics
from hoodie_airflow.output import Output, beside_log, logs_go_elsewhere
from hoodie_airflow.question import question
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import Explained, Report, ServiceResult

_log = logging.getLogger(__name__)

FAILURE, PLAN = "failure", "plan"
"""Keys of the XComs beside the result."""
ASKS = "asks"
"""Set in the result of a task that stopped to ask, with nothing changed."""
_XCOM_BYTES = 48 * 1024  # bytes of JSON: they are rows of Airflow's database, and columns of its page


def task_output(
    report: Report, table: Table, entry: ServiceEntry[Any], context: Any, output: Output | None, asks: str = ""
) -> dict[str, Any] | None:
    """Return the result as JSON; None for an explained plan. `output` is what the service's process printed, if it had
    one.

    A failure with the error `asks`, by name, is a question: its message is returned in place of the result.

    Raises AirflowFailException for a failure that another try would only meet again, AirflowException for others, and
    AirflowSkipException when the table is paused.
    """
    if not (isinstance(report, Failure) and report.error in (asks, TablePausedError.__name__)):
        tell_metrics(report, table.name, entry.name)
    match report:
        case Failure() if report.error == asks:
            _log.warning("%s", report.block())
            return {"message": question(report, table, entry), ASKS: True, DIGEST: report.digest}
        case Failure() if report.error == TablePausedError.__name__:  # since the task began
            raise AirflowSkipException(report.block())
        case Failure():
            raise failed(report, context, output.left(_log.info) if output is not None else None)
        case Explained():
            _explained(report, context)
            return None
        case ServiceResult():
            return _end_of_run(report, table, entry, context)


def failed(failure: Failure, context: Any, output: str | None = None) -> AirflowException:
    """The exception for the task to raise. The XCom says the same, and becomes the task's note when its run fails
    (`failure_notes`)."""
    text = failure.block() + (f"\nFull output: {output}" if output else "")
    context["ti"].xcom_push(FAILURE, {**failure.shortened().as_dict(), "message": text, "output": output})
    return AirflowException(text) if failure.retryable else AirflowFailException(text)


def refused(error: HoodieError | ValueError, context: Any) -> AirflowException:
    """The same before anything was begun: what the form or the registry asks for cannot be, and is not tried again."""
    if isinstance(error, HoodieError):
        return failed(replace(Failure.of(error), retryable=False), context)
    return failed(Failure("UsageError", str(error), None, "correct the form", 2, retryable=False), context)


def check_form(context: Any, names: Iterable[str]) -> None:
    """Refuse a run whose form has other keys than these. Raises AirflowFailException."""
    try:
        only_names(context, names)
    except ConfigError as error:
        raise refused(error, context) from None


def _end_of_run(result: ServiceResult, table: Table, entry: ServiceEntry[Any], context: Any) -> dict[str, Any]:
    """The event of the table's asset is added only when the run committed something."""
    if result.instant is not None:
        log_instant(result.instant)
    _log.info("%s of table %s: %s (%.1f s)", result.service, table.name, result.message, result.seconds)
    for service in result.services:
        if service.failed:
            _log.error("The commit stays; %s after it failed: %s", service.service, service.message)
    fields: dict[str, Any] = json.loads(json.dumps(asdict(result)))  # Airflow shows tuples as objects of its own
    if result.instant is not None:
        events = context["outlet_events"][outlet(table, entry)]
        events.add(table_asset(table, entry), extra={"table": table.name, **fields})
    return fields


def _explained(explained: Explained, context: Any) -> None:
    for line in explained.text.splitlines():
        _log.info("%s", line)
    context["ti"].xcom_push(PLAN, bounded(explained.plan, "files", PLAN, ("service", "reason"), context))


def bounded(values: Mapping[str, Any], many: str, name: str, needed: Sequence[str], context: Any) -> dict[str, Any]:
    """Values for an XCom. If they are too large the last of those in the list `many` are left out, and facts but the
    `needed`.

    All of it is then in a file that they name, or only in the log, which has it as text.
    """
    text = json.dumps(values, default=str)
    if len(text) <= _XCOM_BYTES:
        return dict(values)
    place = "the log of this task"
    if not logs_go_elsewhere():
        file = beside_log(context, f"{name}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        _log.info("The whole %s: %s", name, file)
        place = str(file)
    rows = list(values.get(many, ()))
    facts = {key: value for key, value in values.items() if key != many}
    if len(json.dumps(facts, default=str)) > _XCOM_BYTES // 2:
        facts = {key: values[key] for key in needed if key in values}
    while rows and len(json.dumps(rows, default=str)) > _XCOM_BYTES // 2:
        rows = rows[: len(rows) // 2]
    left_out = len(values.get(many, ())) - len(rows)
    return {**facts, many: rows, f"{many}_left_out": left_out, f"whole_{name}": place}

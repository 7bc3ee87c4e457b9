"""The steps of a service's DAG as Airflow's tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.providers.standard.operators.python import PythonOperator, ShortCircuitOperator
from airflow.sdk import Variable, get_current_context
from airflow.sdk.bases.operator import BaseOperator

from hoodie_airflow.approval import ApprovalWhenAsked
from hoodie_airflow.forms import run_request, wants_explanation
from hoodie_airflow.idle_runs import end_failures
from hoodie_airflow.notifier import HudiAlert
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.question import plan_link
from hoodie_airflow.task_result import check_form
from hoodie_airflow.worker_operator import HudiWorkerOperator
from hudi_services.entry.dag import Approval, Outlook, Run, RunRequest, Step, SwitchOn, WhenDue, WhenOn
from hudi_services.entry.digest import ONLY
from hudi_services.entry.preconditions import awaits_load
from hudi_services.entry.table import Table
from hudi_services.operations.pages.run import OUTLOOK
from hudi_services.services.entries import Entries, entry_named

_log = logging.getLogger(__name__)


def chain(table: Table, steps: tuple[Step, ...], entries: Entries) -> None:
    """The tasks of the DAG that is being made, each after the one before it."""
    tasks = [_task(table, step, steps, entries) for step in steps]
    for before, after in pairwise(tasks):
        before >> after


def _task(table: Table, step: Step, steps: tuple[Step, ...], entries: Entries) -> BaseOperator:
    name = step.task_id
    match step:
        case Run():
            return _service_task(table, step, entries)
        case WhenDue():
            return ShortCircuitOperator(
                task_id=name, python_callable=_looks(table, step.look, steps, entries), doc_md=WhenDue.__doc__
            )
        case WhenOn():
            asks = _asks(_variable(step.switch, table), step.otherwise)
            return ShortCircuitOperator(task_id=name, python_callable=asks, doc_md=WhenOn.__doc__)
        case SwitchOn():
            switches = _switches_on(_variable(step.switch, table), step.note)
            return PythonOperator(task_id=name, python_callable=switches, doc_md=SwitchOn.__doc__)
        case Approval():
            plan_message = f"{{{{ (ti.xcom_pull(task_ids='{step.shows}') or {{}}).get('message') }}}}"
            body = f"{plan_message}\n\n{plan_link(table, step.shows)}{step.text}"
            if step.when_asked:
                return ApprovalWhenAsked(task_id=name, subject=step.subject, body=body, shows=step.shows)
            return ApprovalOperator(task_id=name, subject=step.subject, body=body)


def _service_task(table: Table, step: Run, entries: Entries) -> BaseOperator:
    """The operator of a service: by spark-submit, or in the worker when the service needs no Spark."""
    entry = entry_named(step.service, entries)
    if entry.command.application is None:
        operator: type[HudiWorkerOperator | HudiServiceOperator] = HudiWorkerOperator
    else:
        operator = HudiServiceOperator
    return operator(
        task_id=step.task_id,
        table=table,
        entry=entry,
        mode=step.mode,
        asks=step.asks,
        agreed_in=step.agreed_in,
        follows=step.follows,
        on_failure_callback=HudiAlert(table.name, entry.name, failed=True),
        on_success_callback=HudiAlert(table.name, entry.name, failed=False),
    )


def _variable(switch: str, table: Table) -> str:
    """Name of the Airflow variable that says since when a table's switch is on."""
    return f"{switch}__{table.name}"


def _looks(
    table: Table, look: Callable[[RunRequest], Outlook], steps: tuple[Step, ...], entries: Entries
) -> Callable[[], bool]:
    runs = [step for step in steps if isinstance(step, Run)]
    fields = [field for run in runs for field in entry_named(run.service, entries).dag.form(table)]

    def due() -> bool:
        """Ends the run when there is nothing to do. The facts go to XComs of their names."""
        context = get_current_context()
        if runs:  # a run with nothing to do would end well, without a word about a key that is misspelt
            check_form(context, (field.name for field in fields))
        plan, only = wants_explanation(context), context["params"].get(ONLY)
        missing = awaits_load(runs[0].service, table) if plan and runs else None  # the first one may make the table
        if (plan and missing is None) or only:
            _log.info("asked for a plan")
            return True
        outlook = missing or look(run_request(context))
        for name, fact in outlook.facts.items():
            context["ti"].xcom_push(name, fact)
        context["ti"].xcom_push(OUTLOOK, outlook.reason)
        _log.info("%s", outlook.reason)
        if not outlook.due and not plan:
            end_failures(table, runs, outlook.reason, context)
        return outlook.due

    return due


def _switches_on(variable: str, note: str) -> Callable[[], str]:
    def switch_on() -> str:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        Variable.set(variable, now, description=note)
        return now

    return switch_on


def _asks(variable: str, otherwise: str) -> Callable[[], bool]:
    def is_on() -> bool:
        """Ends the run while the switch is off."""
        since = Variable.get(variable, default=None)
        if since is None:
            _log.warning("%s", otherwise)
            return False
        _log.info("%s since %s", variable, since)
        return True

    return is_on

"""The service `ttl`: drops the partitions of a table that have outlived their time."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.config import own_options, select_keys
from hoodie.config.groups import TTL_OPTIONS
from hoodie.config.keys.ttl import DAYS_RETAINED
from hoodie.errors import DeleteCapError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import (
    OPERATION,
    Approval,
    Arguments,
    Field,
    Outlook,
    Run,
    RunRequest,
    Step,
    Trigger,
    WhenDue,
)
from hudi_services.entry.digest import ONLY_FIELD, approval_flag, only_flag, only_flags
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.table import Cron, ServiceSection, Table

_APPROVAL = (
    "The form's operation `explain` shows each partition. Approving drops by this plan. If the plan has changed, nothing is "
    "dropped, and the next run asks again. Rejecting changes nothing."
)


class Ttl(ServiceSection):
    """The section `ttl`: drops old partitions, on a schedule. Its `hoodie` says which (`hoodie.partition.ttl.*`)."""

    schedule: Cron | None = None


def _task(call: Call, yes: str | None, only: str | None) -> Task:
    from hudi_services.services.ttl.task import TtlTask

    return TtlTask(call.base_path, own_options(call.options, TTL_OPTIONS), yes, only, call.ask)


def _contradictions(_table: Table, section: Ttl) -> Iterator[tuple[KeyPath, str]]:
    if not select_keys(section.hoodie, [DAYS_RETAINED]):
        yield ("ttl",), f"has no effect without {DAYS_RETAINED.name} in its `hoodie`"


def _trigger(_table: Table, section: Ttl) -> Trigger:
    return Trigger(section.schedule)


def _form(_table: Table) -> tuple[Field, ...]:
    days = Field(
        "days",
        "Days that partitions are kept",
        "Older ones are dropped. Empty: as in the registry.",
        None,
        {"type": ["null", "integer"], "minimum": 1},
    )
    return OPERATION, days, ONLY_FIELD


def _steps(table: Table, section: Ttl) -> tuple[Step, ...]:
    drop = (
        Run("ttl", "ttl", asks=DeleteCapError.__name__),
        Approval("approve", f"Drop old partitions of table {table.name}?", "ttl", _APPROVAL, when_asked=True),
        Run("ttl_approved", "ttl", agreed_in="ttl"),
    )
    if section.schedule is None or not table.filled_here:
        return drop
    return WhenDue("due", lambda request: not_begun(table) or Outlook(True, f"a run of type {request.run_type}")), *drop


def _arguments(_table: Table, section: Ttl, request: RunRequest) -> Arguments:
    """The form's days go before the table's own."""
    options, days = dict(section.hoodie), request.params.get("days")
    if days is not None:
        options[DAYS_RETAINED.name] = str(days)
    agreed = ("--yes", request.agreed) if request.agreed else ()
    return Arguments((*agreed, *only_flags(request)), options)


TTL = ServiceEntry(
    "ttl",
    Command(
        "Drop partitions that have outlived hoodie.partition.ttl.strategy.days.retain. Needs no Spark.",
        _task,
        flags=(
            approval_flag(),
            only_flag(),
        ),
        examples=(
            "hudi-services ttl --table orders --explain",
            "hudi-services ttl --target-base-path /data/lake/orders \\\n"
            "    --hoodie-conf hoodie.partition.ttl.strategy.days.retain=90",
        ),
    ),
    Section(Ttl, (TTL_OPTIONS,), contradictions=_contradictions, always=False),
    Dag(_steps, _arguments, _trigger, _form, changes_rows=True),
)

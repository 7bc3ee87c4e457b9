"""The service `clean`: removes file slices that no retained view of a table needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field as Limit

from hoodie.config import own_options, select_keys
from hoodie.config.groups import CLEAN_OPTIONS
from hoodie.config.key import ConfigKey, resolve
from hoodie.config.keys.clean import COMMITS_RETAINED, FILE_VERSIONS_RETAINED, HOURS_RETAINED, POLICY
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
from hudi_services.entry.planning import commits_trigger
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import Schedule, SparkSection, Table

_RETAINED: dict[str, ConfigKey[int]] = {
    "KEEP_LATEST_COMMITS": COMMITS_RETAINED,
    "KEEP_LATEST_FILE_VERSIONS": FILE_VERSIONS_RETAINED,
    "KEEP_LATEST_BY_HOURS": HOURS_RETAINED,
}
_APPROVAL = (
    "The form's operation `explain` shows each file. Approving deletes by this plan. If the plan has changed, nothing is "
    "deleted, and the next run asks again. Rejecting changes nothing."
)
_FROM_TABLE = "as in the registry"


class Clean(SparkSection):
    """The section `clean`: removes old file versions, on a schedule, after a number of commits since the last clean, or
    both."""

    schedule: Schedule | None = None
    after_ingests: Annotated[int, Limit(ge=1)] | None = None


def _task(call: Call, yes: str | None, only: str | None) -> Task:
    from hudi_services.services.clean.task import CleanTask

    return CleanTask(call.base_path, own_options(call.options, CLEAN_OPTIONS), yes, only, call.ask)


def _trigger(_table: Table, section: Clean) -> Trigger:
    return commits_trigger(section.schedule, section.after_ingests)


def _form(_table: Table) -> tuple[Field, ...]:
    return (
        OPERATION,
        Field(
            "policy",
            "Policy",
            "The file versions to keep.",
            _FROM_TABLE,
            {"type": "string", "enum": [_FROM_TABLE, *_RETAINED]},
        ),
        Field(
            "retained",
            "Retained",
            "Commits, file versions or hours, as the policy counts. Empty: as in the registry.",
            None,
            {"type": ["null", "integer"], "minimum": 1},
        ),
        ONLY_FIELD,
    )


def _steps(table: Table, section: Clean) -> tuple[Step, ...]:
    after = section.after_ingests
    remove = (
        Run("clean", "clean", asks=DeleteCapError.__name__),
        Approval("approve", f"Delete older files of table {table.name}?", "clean", _APPROVAL, when_asked=True),
        Run("clean_approved", "clean", agreed_in="clean"),
    )
    if after is None and (section.schedule is None or not table.filled_here):
        return remove

    def look(request: RunRequest) -> Outlook:
        """People are never held up; the clock while there is no table yet, ingestions also while there are too few commits."""
        if request.run_type == "manual":
            return Outlook(True, "asked for by hand")
        if missing := not_begun(table):
            return missing
        if after is None or request.run_type != "asset_triggered":
            return Outlook(True, f"asked for by a run of type {request.run_type}")
        from hudi_services.services.clean.task import outlook

        return outlook(table.base_path, after)

    return WhenDue("due", look), *remove


def _arguments(_table: Table, section: Clean, request: RunRequest) -> Arguments:
    """The form's policy, and how many commits, file versions or hours it retains, go before the table's own options."""
    options: Mapping[str, str] = section.hoodie
    policy, retained = request.params.get("policy"), request.params.get("retained")
    if policy not in (None, _FROM_TABLE):
        options = _replaced(options, POLICY, policy)
    if retained is not None:
        key = _RETAINED[resolve(select_keys(options, [POLICY]), [POLICY])[POLICY]]
        options = _replaced(options, key, str(retained))
    agreed = ("--yes", request.agreed) if request.agreed else ()
    return Arguments((*agreed, *only_flags(request)), options)


def _replaced(options: Mapping[str, str], key: ConfigKey[Any], value: str) -> dict[str, str]:
    """`options` with one value for `key`, under whichever of its names it stood."""
    return {name: option for name, option in options.items() if name not in key.names} | {key.name: value}


CLEAN = ServiceEntry(
    "clean",
    Command(
        "Remove file slices that no retained view of the table needs.",
        _task,
        flags=(
            approval_flag(),
            only_flag(),
        ),
        application="cleaner.py",
        examples=(
            "hudi-services clean --table orders --explain",
            "hudi-services clean --target-base-path /data/lake/orders --hoodie-conf hoodie.clean.commits.retained=10",
        ),
    ),
    Section(Clean, (CLEAN_OPTIONS,)),
    Dag(_steps, _arguments, _trigger, _form),
)

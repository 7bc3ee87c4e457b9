"""The service `restore`: makes and deletes savepoints of a table, and takes it back to one on request."""

from __future__ import annotations

import click

from hoodie.config import own_options
from hoodie.config.groups import RESTORE_OPTIONS
from hoodie.errors import ConfigError, DeleteCapError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import Approval, Arguments, Field, Run, RunRequest, Step
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import ServiceSection, Table

EXPLAIN, RESTORE_TO, MAKE, DELETE = "explain", "restore", "make savepoint", "delete savepoint"
_OPERATIONS = (EXPLAIN, RESTORE_TO, MAKE, DELETE)


class Restore(ServiceSection):
    """Savepoints and restores from Airflow's page: by hand only."""


def _task(call: Call, operation: str, instant: str | None, comments: str, agreed: str, skip_files: bool) -> Task:
    if operation != MAKE and instant is None:
        raise ConfigError(
            f"The operation {operation!r} needs the instant of a savepoint",
            fix="`hudi-services savepoint list` shows those of a table",
        )
    from hudi_services.services.restore.task import DeleteSavepointTask, MakeSavepointTask, RestoreTask

    options = own_options(call.options, RESTORE_OPTIONS)
    if operation == MAKE:
        return MakeSavepointTask(call.base_path, instant, comments, options)
    assert instant is not None
    if operation == DELETE:
        return DeleteSavepointTask(call.base_path, instant, options)
    return RestoreTask(call.base_path, instant, options, agreed, call.tell, skip_files)


def _form(_table: Table) -> tuple[Field, ...]:
    return (
        Field(
            "operation",
            "Operation",
            "explain prints into the log what a restore would take back, and changes nothing. A restore asks before it acts.",
            EXPLAIN,
            {"type": "string", "enum": list(_OPERATIONS)},
        ),
        Field(
            "instant",
            "Savepoint",
            "The instant of its commit. Empty only for a new savepoint: then it is of the last commit.",
            None,
            {"type": ["null", "string"], "pattern": "^[0-9]+$"},
        ),
        Field(
            "skip_files",
            "Do not load the files again",
            "A restore also takes back the record of the files that these commits loaded. Keep them as loaded.",
            False,
            {"type": "boolean"},
        ),
        Field("comments", "Comments", "Why a savepoint is made: shown with it.", "", {"type": "string"}),
    )


def _steps(table: Table, _section: Restore) -> tuple[Step, ...]:
    return (
        Run("restore", "restore", asks=DeleteCapError.__name__),
        Approval(
            "approve",
            f"Restore table {table.name}?",
            "restore",
            "The rows of these instants cannot be brought back. Approving restores by this plan. If the plan has changed, "
            "nothing is done. The form's operation `explain` shows each instant. Rejecting changes nothing.",
            when_asked=True,
        ),
        Run("restore_approved", "restore", agreed_in="restore"),
    )


def _arguments(_table: Table, section: Restore, request: RunRequest) -> Arguments:
    """The form's operation, instant and comments. Raises ConfigError for an instant that is missing."""
    params = request.params
    operation, instant = params.get("operation") or EXPLAIN, params.get("instant")
    flags = ("--operation", operation, *(("--instant", instant) if instant else ()))
    flags += ("--comments", params["comments"]) if params.get("comments") else ()
    flags += ("--skip-files",) if params.get("skip_files") else ()
    return Arguments((*flags, *(("--agreed", request.agreed) if request.agreed else ())), section.hoodie)


def _notes(_table: Table) -> tuple[str, ...]:
    return (
        "By hand: operation `make savepoint` keeps the files of a commit, `restore` takes back all that came after it",
    )


RESTORE = ServiceEntry(
    "restore",
    Command(
        "Make or delete savepoints of a table, and restore it to one.",
        _task,
        flags=(
            click.Option(["--operation"], type=click.Choice(_OPERATIONS), default=EXPLAIN),
            click.Option(["--instant"]),
            click.Option(["--comments"], default=""),
            click.Option(["--agreed"], default=""),
            click.Option(["--skip-files"], is_flag=True),
        ),
        typed=False,
        mends=True,
    ),
    Section(Restore, (RESTORE_OPTIONS,), always=False),
    Dag(_steps, _arguments, form=_form, notes=_notes, changes_rows=True),
)

"""The service `archive`: moves old instants from a table's active timeline to its archive."""

from __future__ import annotations

from hoodie.config import own_options
from hoodie.config.groups import ARCHIVE_OPTIONS
from hoodie.config.keys.archive import MAX_COMMITS, MIN_COMMITS
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import OPERATION, Arguments, Field, Outlook, Run, RunRequest, Step, Trigger, WhenDue
from hudi_services.entry.digest import ONLY_FIELD, only_flag, only_flags
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.retention import with_retention
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import Schedule, ServiceSection, Table


class Archive(ServiceSection):
    """The section `archive`: keeps the timeline short, on a schedule. Writes of this project archive by themselves,
    unless their options say no."""

    schedule: Schedule | None = None


def _task(call: Call, only: str | None) -> Task:
    from hudi_services.services.archive.task import ArchiveTask

    return ArchiveTask(call.base_path, own_options(call.options, ARCHIVE_OPTIONS), only)


def _trigger(_table: Table, section: Archive) -> Trigger:
    return Trigger.of(section.schedule)


def _form(_table: Table) -> tuple[Field, ...]:
    return (
        OPERATION,
        Field(
            "commits",
            "Commits that stay",
            "On the active timeline; all before them that may go are archived. Empty: as in the registry.",
            None,
            {"type": ["null", "integer"], "minimum": 1},
        ),
        ONLY_FIELD,
    )


def _steps(table: Table, section: Archive) -> tuple[Step, ...]:
    move = Run("archive", "archive")
    if section.schedule is None or not table.filled_here:
        return (move,)
    return WhenDue("due", lambda request: not_begun(table) or Outlook(True, f"a run of type {request.run_type}")), move


def _arguments(table: Table, section: Archive, request: RunRequest) -> Arguments:
    """The arguments of a run. The retention of the table's cleaner and compactions holds here, too; the form's number
    goes before the table's own."""
    options = with_retention(table, section.hoodie)
    commits = request.params.get("commits")
    if commits is not None:
        options |= {MIN_COMMITS.name: str(commits), MAX_COMMITS.name: str(int(commits) + 1)}
    return Arguments(only_flags(request), options)


ARCHIVE = ServiceEntry(
    "archive",
    Command(
        "Move old instants from the active timeline to the archive. Needs no Spark.",
        _task,
        (only_flag(),),
        examples=(
            "hudi-services archive --table orders --explain",
            "hudi-services archive --target-base-path /data/lake/orders \\\n"
            "    --hoodie-conf hoodie.keep.min.commits=50 --hoodie-conf hoodie.keep.max.commits=60",
        ),
    ),
    Section(Archive, (ARCHIVE_OPTIONS,), always=False),
    Dag(_steps, _arguments, _trigger, _form),
)

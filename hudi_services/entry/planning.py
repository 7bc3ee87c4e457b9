"""Flags, settings and DAG steps that are common to services which schedule plans and execute them separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import click
from pydantic import Field as Limit
from pydantic import model_validator

from hoodie.config.key import ConfigKey
from hoodie.errors import ConfigError
from hudi_services.entry.dag import OPERATION, Arguments, Field, Outlook, Run, RunRequest, Step, Trigger, WhenDue
from hudi_services.entry.digest import ONLY, ONLY_FIELD, only_flag, only_flags
from hudi_services.entry.preconditions import not_begun
from hudi_services.entry.table import Schedule, SparkSection, Table


class PlannedSection(SparkSection):
    """The schedule of plans: by cron, after ingestions, or both. A run executes at most `max_plans` pending plans.
    `after_ingests` is the number of commits that make a plan due, unless the options set one."""

    commits_key: ClassVar[ConfigKey[Any]]
    """The option that gets the value of `after_ingests`."""

    schedule: Schedule | None = None
    after_ingests: Annotated[int, Limit(ge=1)] | None = None
    max_plans: Annotated[int, Limit(ge=1)] = 10

    @model_validator(mode="before")
    @classmethod
    def _due_after_ingests(cls, section: Any) -> Any:
        options = section.get("hoodie", {}) if isinstance(section, Mapping) else None
        if not isinstance(options, Mapping) or section.get("after_ingests") is None:
            return section
        if set(cls.commits_key.names) & options.keys():
            return section
        return {**section, "hoodie": {cls.commits_key.name: section["after_ingests"], **options}}


def plan_flags(noun: str, force: str) -> tuple[click.Option, ...]:
    """The flags of the command. `noun` names the plans, and `force` is the help of the flag of that name."""
    return (
        click.Option(
            ["--mode"],
            type=click.Choice(["schedule", "execute", "schedule-and-execute"]),
            default="schedule-and-execute",
            show_default=True,
        ),
        click.Option(
            ["--instant"], help=f"Execute only the pending {noun} of this instant. [default: all, the oldest first]"
        ),
        click.Option(
            ["--max-plans"], type=click.IntRange(min=1), help=f"Execute at most N pending {noun}s.", metavar="N"
        ),
        click.Option(["--force"], is_flag=True, help=force),
        only_flag(),
    )


def plan_form(noun: str, *more: Field) -> tuple[Field, ...]:
    """The form of a run; `noun` is what it plans, and `more` are fields that say how."""
    force = Field(
        "force",
        "Even if none is due",
        f"Schedule a {noun} even if the trigger of the options is not met.",
        False,
        {"type": "boolean"},
    )
    most = Field(
        "max_plans",
        "Largest number of plans",
        f"The oldest pending {noun}s are executed first. Empty: as in the registry.",
        None,
        {"type": ["null", "integer"], "minimum": 1},
    )
    return OPERATION, *more, force, most, ONLY_FIELD


def check_mode(noun: str, mode: str, instant: str | None, only: str | None) -> None:
    """Raises ConfigError for an instant that is to be scheduled, and for a plan that is not."""
    if only is not None and mode == "execute":
        raise ConfigError(
            f"--{ONLY} names a {noun} that is still to be scheduled",
            fix="leave --mode execute out, or name the pending one by --instant",
        )
    if instant is not None and mode != "execute":
        raise ConfigError(f"--instant names a {noun} that is scheduled already", fix="use it with --mode execute")


def commits_trigger(schedule: str | None, after_ingests: int | None) -> Trigger:
    """The trigger of a service by its schedule, and by commits of any program to the table if it counts them.

    Ingestions in Airflow start it also by their own event, at once and while the watcher does not run.
    """
    counts = after_ingests is not None
    return Trigger.of(schedule, after=("ingest",) if counts else (), watched=counts)


def plan_trigger(_table: Table, section: PlannedSection) -> Trigger:
    """The trigger: by schedule, and after commits by any program if the section says so."""
    return commits_trigger(section.schedule, section.after_ingests)


def plan_steps(
    service: str, outlook: Callable[[str, Mapping[str, str]], Outlook], *chosen: str
) -> Callable[[Table, PlannedSection], tuple[Step, ...]]:
    """A task that looks (`outlook`, of a base path and options), one that schedules, one that executes.

    If a person fills in one of the fields `chosen`, the options differ from those of the outlook, so the task does not look.
    """

    def steps(table: Table, section: PlannedSection) -> tuple[Step, ...]:
        def look(request: RunRequest) -> Outlook:
            if request.urged:  # options that count commits may say that it is not due
                return Outlook(True, f"the objective {request.urged} is missed")
            if by_hand := [name for name in ("force", *chosen) if request.params.get(name)]:
                return Outlook(True, f"the form has {', '.join(by_hand)}")
            return not_begun(table) or outlook(table.base_path, section.hoodie)

        # Executed by a task of its own: it takes as long as it takes, without the table's lock, and is tried again by itself.
        schedule = Run("schedule", service, "schedule")
        return WhenDue("due", look), schedule, Run("execute", service, "execute", follows=schedule.task_id)

    return steps


def plan_arguments(_table: Table, section: PlannedSection, request: RunRequest) -> Arguments:
    """Arguments for the mode `schedule` or `execute`, or for both without a mode.

    The plan that an objective asks for is made even if the commits do not make it due.
    """
    mode = ("--mode", request.mode) if request.mode else ()
    if request.mode == "execute" and request.scheduled:
        return Arguments((*mode, "--instant", request.scheduled), section.hoodie)
    most = (
        ("--max-plans", str(request.params.get("max_plans") or section.max_plans)) if request.mode != "schedule" else ()
    )
    force = ("--force",) if (request.urged or request.params.get("force")) and request.mode != "execute" else ()
    only = only_flags(request) if request.mode != "execute" else ()
    return Arguments((*mode, *most, *force, *only), section.hoodie)

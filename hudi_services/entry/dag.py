"""Values with which an entry describes its DAG. The Airflow plugin turns them into schedules, forms and tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

DAG_PREFIX = "hudi"
BY_OBJECTIVES = "objectives"
"""In place of a cron schedule: a service begins when an objective is missed that the service restores."""


def dag_id(service: str, table_name: str) -> str:
    return f"{DAG_PREFIX}_{service}__{table_name}"


@dataclass(frozen=True)
class Field:
    """A field of the trigger dialog; `schema` is JSON schema, such as `{"type": "string"}`."""

    name: str
    title: str
    description: str
    default: object
    schema: Mapping[str, Any]


EXPLAIN = "explain"
OPERATION = Field(
    "operation",
    "Operation",
    "explain prints the plan into the log and changes nothing.",
    "execute",
    {"type": "string", "enum": ["execute", EXPLAIN]},
)
UNSCHEDULE = Field(
    "unschedule",
    "Unschedule",
    "The instant of a plan that waits: it is removed, nothing is scheduled or executed, and no row changes.",
    None,
    {"type": ["null", "string"], "pattern": "^([0-9]{14}([0-9]{3})?)?$"},
)


@dataclass(frozen=True)
class Trigger:
    """The trigger of a run: `cron` (UTC), a missed objective, or each change that one of the services `after` makes to the
    table, or to the other `tables` of the registry. With `watched` each commit to these tables counts, by any program: also to
    the table itself, if the run follows its services. A `continuous` run begins when the last one has ended.

    Intervals of the schedule begin from `start` to `end` (UTC days). With `catchup` those that passed before the first run,
    or while nothing ran, are run too; without it only the last of them.
    """

    cron: str | None = None
    after: tuple[str, ...] = ()
    start: date = date(2000, 1, 1)
    end: date | None = None
    catchup: bool = False
    by_objectives: bool = False
    tables: tuple[str, ...] = ()
    watched: bool = False
    continuous: bool = False

    @classmethod
    def of(cls, schedule: str | None, **more: Any) -> Trigger:
        """A trigger from the key `schedule` of a section."""
        by_objectives = schedule == BY_OBJECTIVES
        return cls(None if by_objectives else schedule, by_objectives=by_objectives, **more)


@dataclass(frozen=True)
class RunRequest:
    """The request of a run: the step's `mode`, the values of the form (`params`), and Airflow's part.

    `run_type` is Airflow's (`scheduled`, `backfill`, `manual`, …), `interval` the run's data interval if it has one. `agreed` is
    the digest of the plan that a person has agreed to in this run, `urged` the objective that is missed where that began it,
    `scheduled` the instant of the plan that the task before has scheduled, in a run that was asked for one plan only.
    """

    mode: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    run_type: str = "manual"
    interval: tuple[datetime, datetime] | None = None
    agreed: str = ""
    urged: str = ""
    scheduled: str = ""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a service on a table: its own flags, and `hoodie.*` options."""

    flags: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def as_flags(self, base_path: str) -> list[str]:
        """The whole command line."""
        options = [part for name, value in self.options.items() for part in ("--hoodie-conf", f"{name}={value}")]
        return ["--target-base-path", base_path, *self.flags, *options]


@dataclass(frozen=True)
class Outlook:
    """A look at a table: whether a service has work (`due`), the reason, and facts that are kept with the run (name -> JSON)."""

    due: bool
    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """Runs a service on the table; `mode` goes to the arguments of its entry.

    If it fails with the error named by `asks`, it has changed nothing, and the run goes on to the approval that follows. The
    step whose `agreed_in` names the asking task then carries out the approved plan. A step that `follows` the scheduling task
    carries out the plan that this task has scheduled, and does not explain it again.
    """

    task_id: str
    service: str
    mode: str = ""
    asks: str = ""
    agreed_in: str = ""
    follows: str = ""


@dataclass(frozen=True)
class WhenDue:
    """Ends the run unless the table has something to do."""

    task_id: str
    look: Callable[[RunRequest], Outlook]


@dataclass(frozen=True)
class Approval:
    """A person reads the result of the task `shows`, and `text`, before the run goes on; a rejection skips all that follows.

    With `when_asked`, the approval is needed only if that task asks. Otherwise all that follows is skipped.
    """

    task_id: str
    subject: str
    shows: str
    text: str
    when_asked: bool = False


@dataclass(frozen=True)
class SwitchOn:
    """Switches on the table's switch of this name; it stays on until a user deletes it, as `note` says."""

    task_id: str
    switch: str
    note: str


@dataclass(frozen=True)
class WhenOn:
    """Ends the run unless the table's switch is on; `otherwise` says what has to be done first."""

    task_id: str
    switch: str
    otherwise: str


Step = Run | WhenDue | WhenOn | Approval | SwitchOn
"""A task of a DAG."""

"""The service `compact`: merges the logs of a merge-on-read table into base files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import click
from pydantic import Field as Limit
from pydantic import model_validator

from hoodie.config import own_options
from hoodie.config.compaction_keys import DELTA_COMMITS
from hoodie.config.groups import COMPACT_OPTIONS
from hoodie.errors import ConfigError
from hudi_services.entry.begun import not_begun
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import OPERATION, Arguments, Asked, Outlook, Run, Step, Trigger, WhenDue
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.table import Cron, SparkSection, Table


class Compact(SparkSection):
    """When logs of a merge-on-read table are merged: looked at on a schedule, after ingestions, or both.

    Whether a compaction is due is what the `hoodie.compact.*` options say; `after_ingests` is the number of delta commits
    that make one due, where they give none. A run executes at most `max_plans` that wait.
    """

    schedule: Cron | None = None
    after_ingests: Annotated[int, Limit(ge=1)] | None = None
    max_plans: Annotated[int, Limit(ge=1)] = 10

    @model_validator(mode="before")
    @classmethod
    def _due_after_ingests(cls, said: Any) -> Any:
        given = said.get("hoodie", {}) if isinstance(said, Mapping) else None
        if not isinstance(given, Mapping) or said.get("after_ingests") is None:
            return said
        if set(DELTA_COMMITS.names) & given.keys():
            return said
        return {**said, "hoodie": {DELTA_COMMITS.name: said["after_ingests"], **given}}


def _task(call: Call, mode: str, instant: str | None, **flags: Any) -> Task:
    if instant is not None and mode != "execute":
        raise ConfigError("--instant names a compaction that is scheduled already", fix="use it with --mode execute")
    from hudi_services.compact.task import CompactTask

    return CompactTask(call.base_path, own_options(call.options, COMPACT_OPTIONS), mode, instant, **flags)


def _contradictions(table: Table, section: Compact) -> Iterator[tuple[KeyPath, str]]:
    if table.type == "COPY_ON_WRITE" and section != Compact():
        yield ("compact",), "has no effect on a COPY_ON_WRITE table; remove it, or say type: MERGE_ON_READ"


def _trigger(_table: Table, section: Compact) -> Trigger:
    return Trigger(section.schedule, after=("ingest",) if section.after_ingests is not None else ())


def _steps(table: Table, section: Compact) -> tuple[Step, ...]:
    def look(_asked: Asked) -> Outlook:
        if missing := not_begun(table):
            return missing
        from hudi_services.compact.task import outlook

        return outlook(table.base_path, section.hoodie)

    # Executed by a task of its own: it takes as long as it takes, without the table's lock, and is tried again by itself.
    return WhenDue("due", look), Run("schedule", "compact", "schedule"), Run("execute", "compact", "execute")


def _arguments(_table: Table, section: Compact, asked: Asked) -> Arguments:
    """The mode is `schedule` or `execute`; none is both."""
    mode = ("--mode", asked.mode) if asked.mode else ()
    most = ("--max-plans", str(section.max_plans)) if asked.mode != "schedule" else ()
    return Arguments((*mode, *most), section.hoodie)


COMPACT = ServiceEntry(
    "compact",
    Command(
        """Merge the logs of a merge-on-read table into new base files. Writers may go on meanwhile.

        With hoodie.log.compaction.enable=true, many small log blocks are merged into one when no compaction is due.
        """,
        _task,
        (
            click.Option(
                ["--mode"],
                type=click.Choice(["schedule", "execute", "schedule-and-execute"]),
                default="schedule-and-execute",
                show_default=True,
            ),
            click.Option(
                ["--instant"],
                help="Execute only the pending compaction of this instant. [default: all, the oldest first]",
            ),
            click.Option(
                ["--max-plans"], type=click.IntRange(min=1), help="Execute at most so many pending compactions."
            ),
            click.Option(["--force"], is_flag=True, help="Schedule although the trigger says that none is due."),
        ),
        application="compactor.py",
        examples=(
            "hudi-services compact --table orders --explain",
            "hudi-services compact --table orders --mode schedule",
            "hudi-services compact --table orders --mode execute --max-plans 2 --engine spark",
        ),
    ),
    Section(Compact, (COMPACT_OPTIONS,), contradictions=_contradictions),
    Dag(
        _steps,
        _arguments,
        _trigger,
        lambda _table: (OPERATION,),
        applies=lambda table: table.type == "MERGE_ON_READ",
    ),
)

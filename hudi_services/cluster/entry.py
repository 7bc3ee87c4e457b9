"""The service `cluster`: packs small files of a table together, and sorts their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import click
from pydantic import Field as Limit
from pydantic import model_validator

from hoodie.config import own_options
from hoodie.config.clustering_keys import MAX_COMMITS
from hoodie.config.groups import CLUSTER_OPTIONS
from hoodie.errors import ConfigError
from hudi_services.entry.begun import not_begun
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import OPERATION, Arguments, Asked, Outlook, Run, Step, Trigger, WhenDue
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import Cron, SparkSection, Table


class Cluster(SparkSection):
    """When small files are packed together: looked at on a schedule, after ingestions, or both.

    Which files, and by which columns their rows are sorted, is what the `hoodie.clustering.*` options say; `after_ingests` is
    the number of commits that make a clustering due, where they give none. A run executes at most `max_plans` that wait.
    """

    schedule: Cron | None = None
    after_ingests: Annotated[int, Limit(ge=1)] | None = None
    max_plans: Annotated[int, Limit(ge=1)] = 10

    @model_validator(mode="before")
    @classmethod
    def _due_after_ingests(cls, said: Any) -> Any:
        given = said.get("hoodie", {}) if isinstance(said, Mapping) else None
        if not isinstance(given, Mapping) or said.get("after_ingests") is None or set(MAX_COMMITS.names) & given.keys():
            return said
        return {**said, "hoodie": {MAX_COMMITS.name: said["after_ingests"], **given}}


def _task(call: Call, mode: str, instant: str | None, give_up: str | None, **flags: Any) -> Task:
    if instant is not None and mode != "execute":
        raise ConfigError("--instant names a clustering that is scheduled already", fix="use it with --mode execute")
    options = own_options(call.options, CLUSTER_OPTIONS)
    if give_up is not None:
        from hudi_services.cluster.give_up import GiveUpTask

        return GiveUpTask(call.base_path, options, give_up)
    from hudi_services.cluster.task import ClusterTask

    return ClusterTask(call.base_path, options, mode, instant, **flags)


def _trigger(_table: Table, section: Cluster) -> Trigger:
    return Trigger(section.schedule, after=("ingest",) if section.after_ingests is not None else ())


def _steps(table: Table, section: Cluster) -> tuple[Step, ...]:
    def look(_asked: Asked) -> Outlook:
        if missing := not_begun(table):
            return missing
        from hudi_services.cluster.task import outlook

        return outlook(table.base_path, section.hoodie)

    # Executed by a task of its own: it takes as long as it takes, without the table's lock, and is tried again by itself.
    return WhenDue("due", look), Run("schedule", "cluster", "schedule"), Run("execute", "cluster", "execute")


def _arguments(_table: Table, section: Cluster, asked: Asked) -> Arguments:
    """The mode is `schedule` or `execute`; none is both."""
    mode = ("--mode", asked.mode) if asked.mode else ()
    most = ("--max-plans", str(section.max_plans)) if asked.mode != "schedule" else ()
    return Arguments((*mode, *most), section.hoodie)


CLUSTER = ServiceEntry(
    "cluster",
    Command(
        """Pack small files together and sort their rows (hoodie.clustering.plan.strategy.*).

        Writers may go on in other file groups meanwhile; until a plan is carried out, updates of its file groups are refused.
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
                help="Execute only the pending clustering of this instant. [default: all, the oldest first]",
            ),
            click.Option(
                ["--max-plans"], type=click.IntRange(min=1), help="Execute at most so many pending clusterings."
            ),
            click.Option(["--force"], is_flag=True, help="Schedule although no clustering is due."),
            click.Option(
                ["--give-up"],
                metavar="INSTANT",
                help="Only take the pending clustering of this instant off the timeline: its file groups are free again.",
            ),
        ),
        application="clustering.py",
        examples=(
            "hudi-services cluster --table orders --explain",
            "hudi-services cluster --table orders --force \\\n"
            "    --hoodie-conf hoodie.clustering.plan.strategy.sort.columns=city,day",
            "hudi-services cluster --table orders --mode execute --max-plans 2 --engine spark",
            "hudi-services cluster --table orders --give-up 20260301060000123",
        ),
    ),
    Section(Cluster, (CLUSTER_OPTIONS,), always=False),
    Dag(_steps, _arguments, _trigger, lambda _table: (OPERATION,)),
)

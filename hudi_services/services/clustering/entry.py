"""The service `cluster`: packs small files of a table together, and sorts their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from hoodie.config import laid_over, own_options
from hoodie.config.groups import CLUSTER_OPTIONS
from hoodie.config.keys.clustering import (
    MAX_COMMITS,
    NONE,
    PARTITION_FILTER,
    PARTITION_REGEX,
    PARTITION_SELECTED,
    SORT_COLUMNS,
)
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import Arguments, Field, Outlook, RunRequest
from hudi_services.entry.planning import (
    PlannedSection,
    check_mode,
    plan_arguments,
    plan_flags,
    plan_form,
    plan_steps,
    plan_trigger,
)
from hudi_services.entry.service import Command, Dag, Section, ServiceEntry
from hudi_services.entry.table import Table

_NAMES = {"type": ["null", "array"], "items": {"type": "string", "pattern": "^[^,]+$"}}
_FIELDS = (
    Field(
        "partitions",
        "Only these partitions",
        "Their paths as in the table, such as day=2026-01-03, one a line. Empty: as in the registry.",
        None,
        _NAMES,
    ),
    Field("columns", "Sort by", "Columns of the table, one a line. Empty: as in the registry.", None, _NAMES),
)


class Cluster(PlannedSection):
    """The section `cluster`: packs small files together, on a schedule, after ingestions, or both.

    The `hoodie.clustering.*` options select the files, and the columns by which their rows are sorted; `after_ingests`
    is the number of commits that make a clustering due, where they give none. A run executes at most `max_plans` that
    wait.
    """

    commits_key = MAX_COMMITS


def _task(call: Call, mode: str, instant: str | None, only: str | None, give_up: str | None, **flags: Any) -> Task:
    check_mode("clustering", mode, instant, only)
    options = own_options(call.options, CLUSTER_OPTIONS)
    if give_up is not None:
        from hoodie.services.clustering.unschedule import GiveUpClustering  # loads Arrow
        from hudi_services.entry.removal import RemovalTask

        return RemovalTask("cluster", call.base_path, options, GiveUpClustering(give_up))
    from hudi_services.services.clustering.task import ClusterTask

    return ClusterTask(call.base_path, options, mode, instant, only=only, **flags)


def _outlook(base_path: str, options: Mapping[str, str]) -> Outlook:
    from hudi_services.services.clustering.task import outlook

    return outlook(base_path, options)


def _arguments(table: Table, section: Cluster, request: RunRequest) -> Arguments:
    """The arguments of a run. Values of the form for a new plan go before the table's own options; a plan that waits
    has its own."""
    arguments = plan_arguments(table, section, request)
    if request.mode == "execute":
        return arguments
    overrides = {}
    if partitions := request.params.get("partitions"):
        overrides = {
            PARTITION_SELECTED.name: ",".join(partitions),
            PARTITION_FILTER.name: NONE,
            PARTITION_REGEX.name: ".*",
        }
    if columns := request.params.get("columns"):
        overrides[SORT_COLUMNS.name] = ",".join(columns)
    return replace(arguments, options=laid_over(overrides, arguments.options))


CLUSTER: ServiceEntry[Cluster] = ServiceEntry(
    "cluster",
    Command(
        """Pack small files together and sort their rows (hoodie.clustering.plan.strategy.*).

        Writers may go on in other file groups. Until a plan is carried out, updates of its file groups are refused.
        """,
        _task,
        (
            *plan_flags("clustering", "Schedule although no clustering is due."),
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
    Dag(
        plan_steps("cluster", _outlook, *(field.name for field in _FIELDS)),
        _arguments,
        plan_trigger,
        lambda _table: plan_form("clustering", *_FIELDS),
    ),
)

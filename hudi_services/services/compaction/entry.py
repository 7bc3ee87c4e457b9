"""The service `compact`: merges the logs of a merge-on-read table into base files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from hoodie.config import own_options
from hoodie.config.groups import COMPACT_OPTIONS
from hoodie.config.keys.compaction import DELTA_COMMITS
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import UNSCHEDULE, Arguments, Outlook, RunRequest
from hudi_services.entry.digest import ONLY
from hudi_services.entry.planning import (
    PlannedSection,
    check_mode,
    plan_arguments,
    plan_flags,
    plan_form,
    plan_steps,
    plan_trigger,
)
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.table import Table


class Compact(PlannedSection):
    """The section `compact`: merges logs of a merge-on-read table, on a schedule, after ingestions, or both.

    The `hoodie.compact.*` options decide when a compaction is due; `after_ingests` is the number of delta commits that
    make one due, where they give none. A run executes at most `max_plans` that wait.
    """

    commits_key = DELTA_COMMITS


def _task(call: Call, mode: str, instant: str | None, only: str | None, unschedule: str | None, **flags: Any) -> Task:
    check_mode("compaction", mode, instant, only)
    options = own_options(call.options, COMPACT_OPTIONS)
    if unschedule is not None:
        from hoodie.services.compaction.unschedule import UnscheduleCompaction  # loads Arrow
        from hudi_services.entry.removal import RemovalTask

        return RemovalTask("compact", call.base_path, options, UnscheduleCompaction(unschedule))
    from hudi_services.services.compaction.task import CompactTask

    return CompactTask(call.base_path, options, mode, instant, only=only, **flags)


def _contradictions(table: Table, section: Compact) -> Iterator[tuple[KeyPath, str]]:
    if table.type == "COPY_ON_WRITE" and section != Compact():
        yield ("compact",), "has no effect on a COPY_ON_WRITE table; remove it, or say type: MERGE_ON_READ"


def _arguments(table: Table, section: Compact, request: RunRequest) -> Arguments:
    """Raises ValueError where a plan is to be removed and another one made."""
    instant = request.params.get(UNSCHEDULE.name)
    if not instant:
        return plan_arguments(table, section, request)
    if request.params.get("force") or request.params.get(ONLY):
        raise ValueError("unschedule contradicts force and plan: leave these out")
    return Arguments(("--unschedule", str(instant)), section.hoodie)


def _outlook(base_path: str, options: Mapping[str, str]) -> Outlook:
    from hudi_services.services.compaction.task import outlook

    return outlook(base_path, options)


COMPACT: ServiceEntry[Compact] = ServiceEntry(
    "compact",
    Command(
        """Merge the logs of a merge-on-read table into new base files. Writers may go on while it runs.

        With hoodie.log.compaction.enable=true, many small log blocks are merged into one when no compaction is due.
        """,
        _task,
        (
            *plan_flags("compaction", "Schedule although the trigger says that none is due."),
            click.Option(
                ["--unschedule"],
                metavar="INSTANT",
                help="Only remove the pending compaction of this instant from the timeline. Rows stay as they are.",
            ),
        ),
        application="compactor.py",
        examples=(
            "hudi-services compact --table orders --explain",
            "hudi-services compact --table orders --mode schedule",
            "hudi-services compact --table orders --mode execute --max-plans 2 --engine spark",
            "hudi-services compact --table orders --unschedule 20260301060000123",
        ),
    ),
    Section(Compact, (COMPACT_OPTIONS,), contradictions=_contradictions),
    Dag(
        plan_steps("compact", _outlook, UNSCHEDULE.name),
        _arguments,
        plan_trigger,
        lambda _table: plan_form("compaction", UNSCHEDULE),
        applies=lambda table: table.type == "MERGE_ON_READ",
    ),
)

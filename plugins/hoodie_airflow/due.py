"""Whether a table has something to clean or to compact. Looks at the table: an asset event can be lost, a commit cannot."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from airflow.sdk import get_current_context, task

_log = logging.getLogger(__name__)


def commits_since_clean(base_path: str) -> int:
    """Completed writes after the last completed clean."""
    # Imported here: DAG files are parsed often, and Arrow takes a while to load.
    from hoodie import HoodieTable
    from hoodie.timeline.instant import Action

    timeline = HoodieTable.open(base_path).timeline
    cleans = timeline.completed(Action.CLEAN)
    last = cleans[-1].time if cleans else ""
    return sum(commit.time > last for commit in timeline.commits)


@task.short_circuit(task_id="due")
def clean_is_due(base_path: str, after_ingests: int, run_type: str) -> bool:
    """Ends a run that an ingestion started when there are too few commits yet. Runs of people and schedules go on."""
    if run_type != "asset_triggered":
        return True
    commits = commits_since_clean(base_path)
    _log.info("%d commits since the last clean; cleaned after %d", commits, after_ingests)
    return commits >= after_ingests


def compaction_outlook(base_path: str, options: Mapping[str, str]) -> tuple[bool, dict[str, Any]]:
    """Whether a plan is due or waits, and the backlog: log files and bytes, the oldest log, plans that wait."""
    from hoodie import HoodieTable
    from hudi_services.compact import next_compaction

    decision = next_compaction(HoodieTable.open(base_path), options)
    backlog = {**asdict(decision.backlog), "reason": decision.reason}
    return decision.plan is not None or decision.backlog.pending_plans > 0, backlog


@task.short_circuit(task_id="due")
def compaction_is_due(base_path: str, options: dict[str, str]) -> bool:
    """Ends the run when no compaction is due and none waits. The backlog goes to the log and to the XCom `backlog`."""
    due, backlog = compaction_outlook(base_path, options)
    get_current_context()["ti"].xcom_push("backlog", backlog)
    _log.info("compaction backlog of %s: %s", base_path, backlog)
    return due

"""Whether a table has enough commits to be cleaned. Looks at the table itself: an asset event can be lost, a commit cannot."""

from __future__ import annotations

import logging

from airflow.sdk import task

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

"""Services that are overdue, and what holds them back: as their own planners decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoodie.display import counted
from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptFileError, CorruptTableError, HoodieError, MissingFileError
from hoodie.services.archive.plan import ArchivePlan
from hoodie.services.decision import Decision
from hoodie.timeline import Action

_OVERDUE = 20  # commits that a service which is due has let pass
_COMPLETED_AS = {"clean": Action.CLEAN, "compact": Action.COMMIT}
"""Action that a run of the service leaves on the timeline: on a merge-on-read table a commit is a compaction."""


def overdue(facts: Facts) -> Iterator[Finding]:
    """Due, and many commits have passed since the last run; an archival when as many instants would go."""
    for service, decided in facts.decisions.items():
        if isinstance(decided, (CorruptTableError, CorruptFileError, MissingFileError)):  # other checks name the file
            continue
        if isinstance(decided, HoodieError):
            yield catalogue.UNCHECKED.finding(
                f"the plan of {service} is unknown",
                decided.fix or "see docs/reference/doctor-checks.md",
                found=decided.what,
            )
        elif decided.plan is not None and (passed := _passed(facts, service, decided)) >= _OVERDUE:
            yield catalogue.OVERDUE.finding(
                f"{service} is overdue",
                f"run `hudi-services {service}`, and give the table a schedule for it",
                found=f"{counted(passed, 'commit')} since its last run; {decided.reason}",
                bytes=decided.items.bytes if decided.items is not None else 0,
            )


def _passed(facts: Facts, service: str, decided: Decision[Any]) -> int:
    timeline = facts.state.timeline
    if isinstance(decided.plan, ArchivePlan):
        return len(decided.plan.instants)
    completed = timeline.completed(_COMPLETED_AS[service])
    last = completed[-1].time if completed else ""
    return sum(instant.time > last for instant in timeline.commits)


def held_back(facts: Facts) -> Iterator[Finding]:
    """Not damage: it may be meant so."""
    for service, decided in facts.decisions.items():
        for blocker in decided.blockers if isinstance(decided, Decision) else ():
            yield catalogue.HELD_BACK.finding(f"{service}: {blocker}", blocker.fix, instant=blocker.instant)

"""The command that starts a service, its cost and gain, and the reason why nothing starts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hudi_services.entry.target import registry_flag
from hudi_services.operations.advice.facts import TableFacts
from hudi_services.operations.advice.model import Effect, clock

_DOING = {
    "clean": "Cleaning",
    "archive": "Archiving",
    "compact": "Compacting",
    "cluster": "Clustering",
    "ttl": "Dropping",
}
_FORCED = ("compact", "cluster")  # services that plan by the number of commits unless they are forced
_CARRIED_OUT = {"compaction": "compact", "logcompaction": "compact", "clustering": "cluster"}


def service_of_plan(action: str) -> str | None:
    """The service whose next run carries out a pending plan of this action."""
    return _CARRIED_OUT.get(action)


def command(facts: TableFacts, service: str) -> str:
    """The command that runs the service, also if its options do not make it due yet. A pause lets a service explain alone."""
    start = facts.starts.get(service)
    if start is not None and start.command:
        return f"{start.command}{registry_flag(facts.target.registry)}"
    if facts.pause is not None:
        return facts.target.command(f"{service} --explain")
    work = facts.work.get(service)
    if work is not None and work.over:
        return facts.target.command(f"{service} --yes {work.digest}")
    return facts.target.command(f"{service} --force" if _needs_force(facts, service) else service)


def parameters(facts: TableFacts, service: str) -> Mapping[str, Any]:
    """The values of the form that do the same."""
    return {"force": True} if _needs_force(facts, service) else {}


def _needs_force(facts: TableFacts, service: str) -> bool:
    work = facts.work.get(service)
    waits = any(service_of_plan(pending_plan.action) == service for pending_plan in facts.pending)
    return service in _FORCED and not waits and work is not None and not work.due


def effect(facts: TableFacts, service: str) -> Effect | None:
    """The cost and the gain of the service's next run; None if it has nothing to do or is not known."""
    work = facts.work.get(service)
    if work is None or not work.due or service not in _DOING:
        return None
    return Effect(_DOING[service], work.items, work.noun, work.bytes, work.seconds, work.frees)


def why_not_started(facts: TableFacts, service: str) -> str:
    """A sentence that says what the service waits for."""
    if facts.pause is not None:
        return f"Nothing starts it: the table is paused {facts.pause}."
    work = facts.work.get(service)
    if work is not None and work.over:
        since = f" since {clock(work.asked_since, facts.now)}" if work.asked_since is not None else ""
        return f"It needs an approval{since}: it would delete {'; '.join(work.over)}."
    blocker = next((hold for hold in facts.held if hold.service == service and not hold.completed), None)
    if blocker is not None:
        since = clock(blocker.since, facts.now)
        return f"It is held back by {blocker.action} {blocker.instant}, {blocker.reason}, since {since}."
    if service in facts.starts:
        return facts.starts[service].text
    if not facts.registered:
        return "Nothing starts it: no registry names the table here."
    return "Nothing starts it: the registry has no such service of the table."

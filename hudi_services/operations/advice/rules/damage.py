"""Tables that cannot be read, and findings of the doctor."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.display import counted
from hoodie.doctor.catalogue import UNSEEN
from hudi_services.operations.advice.facts import Damage, TableFacts, Unreadable
from hudi_services.operations.advice.model import Advice, Severity, clock, ended
from hudi_services.operations.advice.rules.remedy import command
from hudi_services.operations.inspect.text import size

_OF_SERVICES = {
    "small-files": ("small_files", "cluster"),
    "log-ratio": ("log_ratio", "compact"),
    "timeline-length": ("timeline_length", "archive"),
}
"""Findings about the shape of a table, with the objective that says the same, and the service whose work it is."""
_ELSEWHERE = (
    "overdue-service",
    "held-back",
    "plan-waits",
    "left-lock",
    "lock",
    "failed-write",
    "half-done",
    "no-table",
    "unreadable",
)
"""Findings that other rules report with more."""
_SEEN = ("future-instant", "future-service-instant")
"""Findings that each look at the table makes itself."""

_ABSENT = "Correct base_path in the registry, put the table back, or remove the entry."


def unreadable(facts: TableFacts) -> Iterator[Advice]:
    """The table cannot be read, is gone, or is not there yet."""
    error = facts.unreadable
    if error is None or any(damage.grave and damage.looked_at is None for damage in facts.damages):
        return  # the doctor says more
    if error.absent:
        yield _awaited(facts) if error.awaited else _absent(facts, error)
        return
    text = f"The table cannot be read: {error.title.rstrip('.')}"
    is_damaged = error.obstacle == "damage"
    look_again = facts.target.command("doctor" if is_damaged else "show table") if error.obstacle != "right" else ""
    commands = facts.target.commands(error.fix) if not error.command else ()
    fix = error.command or next(iter(commands), look_again)
    yield Advice(
        facts.table,
        Severity.DAMAGE if is_damaged else Severity.FAILED,
        "unreadable",
        "",
        text,
        error.since,
        detail=ended(error.cause),
        fix=fix,
        remedy="Or run it as the owner." if error.command else ended(facts.target.with_commands(error.fix)),
        commands=commands,
    )


def _awaited(facts: TableFacts) -> Advice:
    loader = facts.loader
    return Advice(
        facts.table,
        Severity.DUE,
        "absent",
        "",
        f"There is no table at {facts.base_path} yet: no load has made it",
        fix=command(facts, loader.service) if loader is not None else "",
        waits=loader.text if loader is not None else "",
        service=loader.service if loader is not None else None,
    )


def _absent(facts: TableFacts, error: Unreadable) -> Advice:
    """Services cannot run; data is lost only if a table was there."""
    severity = Severity.DAMAGE if error.was_there else Severity.FAILED
    text = f"There is no table at {facts.base_path}{', where there was one' if error.was_there else ''}"
    remedy = _ABSENT if facts.registered else "Check the path."
    return Advice(facts.table, severity, "unreadable", "", text, error.since, remedy=remedy)


def damages(facts: TableFacts) -> Iterator[Advice]:
    """Findings of the doctor that leave rows lost or wrong; without the doctor, problems that a look at the table met."""
    grave = [damage for damage in facts.damages if damage.grave and not _is_outdated(damage)]
    yield from (_finding(facts, damage, Severity.DAMAGE) for damage in grave)
    for problem in facts.problems if all(damage.looked_at is not None for damage in grave) else ():
        title, _, remedy = problem.partition(" To do: ")
        yield Advice(
            facts.table,
            Severity.DAMAGE,
            "problem",
            title,
            title.rstrip("."),
            fix=next(iter(facts.target.commands(remedy)), facts.target.command("doctor")),
            remedy=ended(facts.target.with_commands(remedy)),
            commands=facts.target.commands(remedy),
        )


def leftovers(facts: TableFacts) -> Iterator[Advice]:
    """Findings of the doctor that leave rows right: something is left behind, or grows."""
    missed = {verdict.objective for verdict in facts.objectives if not verdict.is_met}
    due = {service for service, work in facts.work.items() if work.due}
    reported = {check for check, (objective, service) in _OF_SERVICES.items() if objective in missed or service in due}
    for damage in facts.damages:
        if not damage.grave and damage.check not in reported.union(_ELSEWHERE) and not _is_outdated(damage):
            yield _finding(facts, damage, Severity.FAILED if damage.check in UNSEEN else Severity.DUE)


def _is_outdated(damage: Damage) -> bool:
    """True for a finding of an earlier round about something that every look at the table sees itself."""
    return damage.looked_at is not None and damage.check in (*_OF_SERVICES, *_ELSEWHERE, *_SEEN, *UNSEEN)


def _finding(facts: TableFacts, damage: Damage, severity: Severity) -> Advice:
    amount = f" ({size(damage.bytes)})" if damage.bytes and damage.count == 1 and not damage.detail else ""
    detail_text = f"Found: {damage.detail.rstrip('.')}." if damage.detail else ""
    count = f"It is the first of {counted(damage.count, 'finding')}." if damage.count > 1 else ""
    look_text = f"The doctor found it at {clock(damage.looked_at, facts.now)}." if damage.looked_at is not None else ""
    run = facts.target.command("doctor --fix") if damage.fixable else _run(facts, damage.remedy)
    commands = facts.target.commands(damage.remedy) if not run else ()
    return Advice(
        facts.table,
        severity,
        "doctor",
        damage.check,
        f"{ended(damage.title)[:-1]}{amount}",
        detail=" ".join(filter(None, (detail_text, count, look_text))),
        fix=run or next(iter(commands), facts.target.command("doctor")),
        remedy="" if run else ended(facts.target.with_commands(damage.remedy)),
        commands=commands,
    )


def _run(facts: TableFacts, remedy: str) -> str:
    """The command of a remedy that begins with one: later ones are for some cases only."""
    return facts.target.first_command(remedy) if remedy.startswith(("run `", "`")) else ""

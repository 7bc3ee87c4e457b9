"""Blockers of a table's services: a pause, plans that wait, writes that hang, savepoints, locks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import timedelta

from hoodie.changes.consumer_position import unread_reason
from hoodie.display import counted
from hoodie.doctor.catalogue import TORN_WAITING_PLAN
from hudi_services.operations.advice.facts import Held, OpenPurge, PendingInstant, Reader, TableFacts
from hudi_services.operations.advice.model import Advice, Severity, clock, ended
from hudi_services.operations.advice.rules.remedy import service_of_plan, why_not_started
from hudi_services.operations.inspect.text import size

_LONG = timedelta(hours=1)
"""The time after which a write or a lock is reported: most are done sooner."""


def paused(facts: TableFacts) -> Iterator[Advice]:
    """The table is paused."""
    pause = facts.pause
    if pause is None:
        return
    until = f" until {clock(pause.until, facts.now)}" if pause.until is not None else ""
    yield Advice(
        facts.table,
        Severity.WAITING,
        "paused",
        "",
        f"No service runs: {pause.by} has paused the table{until} ({pause.reason.rstrip('.')})",
        pause.since,
        fix=facts.target.command("resume"),
        waits="It waits for a user." if pause.until is None else "",
    )


def plans(facts: TableFacts) -> Iterator[Advice]:
    """Plans that wait for their execution, with what they hold back. One that cannot be read is a damage."""
    torn = [damage.title for damage in facts.damages if damage.check == TORN_WAITING_PLAN.name]
    for pending in facts.pending:
        service = service_of_plan(pending.action)
        if service is None or any(pending.instant in title for title in torn):
            continue
        holds = _holds(facts, pending.instant)
        owner = next((hold.owner for hold in holds if hold.owner), None)
        yield Advice(
            facts.table,
            Severity.WAITING,
            "plan",
            pending.instant,
            f"{pending.action} {pending.instant} is planned and not carried out".capitalize(),
            pending.since,
            detail=f"{_owned(owner)}{_keeps(holds)}",
            fix=facts.target.command(f"{service} --mode execute --instant {pending.instant}"),
            waits=why_not_started(facts, service) if owner is None else "It waits for that process.",
            service=service,
        )


_ABANDONED = (
    "This, or the next change of the table, rolls it back or ends it. Wait if a writer of another program is at work."
)


def writes(facts: TableFacts) -> Iterator[Advice]:
    """Writes and actions that are neither plans nor done, if they hold a service back, have lasted long or are abandoned."""
    for pending in facts.pending:
        holds = _holds(facts, pending.instant)
        if service_of_plan(pending.action) is None and (
            holds or pending.abandoned or facts.now - pending.since > _LONG
        ):
            yield _write(facts, pending, holds)


def _write(facts: TableFacts, pending: PendingInstant, holds: list[Held]) -> Advice:
    files = f", {counted(pending.files, 'data file')} begun" if pending.files is not None else ""
    owner = next((hold.owner for hold in holds if hold.owner), None)
    fix = facts.target.first_command(holds[0].fix) if holds else ""
    remedy, commands = "", tuple[str, ...]()
    if pending.abandoned:
        fix, remedy = facts.target.command("doctor --fix"), _ABANDONED
    elif holds:
        remedy, commands = ended(facts.target.with_commands(holds[0].fix)), facts.target.commands(holds[0].fix)
    return Advice(
        facts.table,
        Severity.WAITING,
        "write",
        pending.instant,
        f"{pending.action} {pending.instant} is not complete{files}".capitalize(),
        pending.since,
        detail=f"{_owned(owner)}{_keeps(holds)}",
        fix=fix or facts.target.command("show timeline"),
        remedy=remedy,
        commands=commands,
    )


def _owned(owner: str | None) -> str:
    return ended(owner) if owner is not None else "No process is known to work on it."


def _keeps(holds: list[Held]) -> str:
    return "".join(f" It holds back {hold.service}: {hold.held}." for hold in holds[:1])


def savepoints(facts: TableFacts) -> Iterator[Advice]:
    """Complete instants that hold a service back: savepoints, and commits that a consumer has not read."""
    pending = {pending_plan.instant for pending_plan in facts.pending}
    instants = dict.fromkeys(hold.instant for hold in facts.held if hold.instant not in pending)
    for instant in instants:
        holds = _holds(facts, instant)
        first, services = holds[0], " and ".join(dict.fromkeys(hold.service for hold in holds))
        whose = f" {ended(first.owner)}" if first.owner else ""
        reason_text = f", {first.reason}," if first.action != "savepoint" else ""
        reader = _reader(facts, first)
        if reader is not None:
            yield _unread(facts, first, reader, services)
            continue
        yield Advice(
            facts.table,
            Severity.WAITING,
            "held",
            instant,
            f"{first.action.capitalize()} {instant}{reason_text} holds back {services}",
            first.since,
            detail=f"Held back: {first.held}.{whose}",
            fix=_safe(facts, first.fix),
            remedy="Delete it once it is not needed any more."
            if first.action == "savepoint"
            else ended(facts.target.with_commands(first.fix)),
        )


def _reader(facts: TableFacts, hold: Held) -> Reader | None:
    """The consumer for whose sake a service is held back."""
    return next((reader for reader in facts.readers if hold.reason == unread_reason(reader.consumer)), None)


def _unread(facts: TableFacts, hold: Held, reader: Reader, services: str) -> Advice:
    """A consumer that holds a service back: how far it is behind, until when that lasts, and what ends it."""
    behind = counted(reader.commits_behind, "commit")
    until = f" until {clock(reader.held_until, facts.now)}, and then no longer" if reader.held_until is not None else ""
    drop = facts.target.command(f"consumer delete {shlex.quote(reader.consumer)}")
    return Advice(
        facts.table,
        Severity.WAITING,
        "held",
        hold.instant,
        f"Consumer {reader.consumer!r} holds back {services}: it is {behind} behind",
        reader.since or hold.since,
        detail=f"Held back{until}: {hold.held}.",
        fix=_safe(facts, hold.fix),
        remedy=f"{ended(facts.target.with_commands(hold.fix))} It gives up what it has not read. {drop} drops the consumer.",
        waits="It waits for the consumer, which no service starts.",
    )


def _safe(facts: TableFacts, fix: str) -> str:
    """The command of a remedy. A consumer that is moved loses changes, so no paste may do that."""
    command = facts.target.first_command(fix)
    return facts.target.command("show consumers") if " consumer reset " in command else command


def purges(facts: TableFacts) -> Iterator[Advice]:
    """Purges that have not erased everything, with what holds the rest and until when."""
    for purge in facts.purges:
        flag = " --delete-savepoints" if purge.by_savepoint else ""
        savepoints = " --delete-savepoints deletes the savepoints that hold the rows." if flag else ""
        yield Advice(
            facts.table,
            Severity.WAITING,
            "purge",
            purge.digest,
            _open_purge(purge),
            purge.since,
            detail=f"Held back: {'; '.join(purge.held_by)}." if purge.held_by else "",
            fix=facts.target.command(f"purge --where CONDITION{flag}"),
            remedy="In place of CONDITION give that of the purge: no file keeps it, and its SHA-256 begins with "
            f"{purge.digest[:8]}.{savepoints}",
            waits="It waits for a user.",
        )


def _open_purge(purge: OpenPurge) -> str:
    if not purge.ended:
        return "A purge has not ended: it runs still, or was killed"
    if not purge.files:
        return "A purge is not finished: rows came back while it ran"
    return f"A purge is not finished: {counted(purge.files, 'file')} of {size(purge.bytes)} may still hold its rows"


def locks(facts: TableFacts) -> Iterator[Advice]:
    """Locks whose holder is gone, and locks that are held for long."""
    for lock in facts.locks:
        is_dead = lock.alive is False
        if not is_dead and (lock.since is None or facts.now - lock.since <= _LONG):
            continue
        state = "Its holder is gone" if is_dead else "It is held for longer than writes take"
        yield Advice(
            facts.table,
            Severity.WAITING,
            "lock",
            lock.path,
            ended(f"{lock.holder} holds the lock {lock.path}")[:-1],
            lock.since,
            detail=f"{state}.",
            fix=facts.target.command("unlock" if is_dead else "show locks"),
        )


def _holds(facts: TableFacts, instant: str) -> list[Held]:
    return [hold for hold in facts.held if hold.instant == instant]

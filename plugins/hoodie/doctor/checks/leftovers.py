"""Unfinished work of writers and services, and their leftovers."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import HoodieError
from hoodie.markers import marker_folder
from hoodie.services.blockers import Blocker
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.times import aged, span
from hoodie.transaction.heartbeat import FOLDER

_LONG_S = 24 * 3600.0  # that a plan waits for those who carry plans out
_OLD_LOCK_S = 3600.0
_ENDED_BY_NEXT = frozenset({Action.CLEAN, Action.ROLLBACK, Action.RESTORE})


def pending(facts: Facts) -> Iterator[Finding]:
    """Instants without a process that is known to be at work on them."""
    if isinstance(facts.pending, HoodieError):
        yield catalogue.UNCHECKED.finding(
            "the owners of pending instants are unknown",
            facts.pending.fix or "see what else was found",
            found=facts.pending.what,
        )
        return
    for instant, blocker in facts.pending.items():
        if blocker.owner is None:
            yield from _abandoned(facts, instant, blocker)


def _abandoned(facts: Facts, instant: Instant, blocker: Blocker) -> Iterator[Finding]:
    age, path = f"{aged(blocker.age)}; no process is known to be at work on it", facts.state.layout.path(instant)
    if instant.action in _ENDED_BY_NEXT:
        yield catalogue.HALF_DONE.finding(
            f"{instant.action} {instant.time} is half done",
            "run `hudi-services doctor --fix`, which ends it",
            found=age,
            path=path,
            instant=instant.time,
        )
    elif instant.action in WRITE_ACTIONS and instant not in facts.plans:
        yield catalogue.FAILED_WRITE.finding(
            f"{instant.action} {instant.time} did not complete",
            "run `hudi-services doctor --fix`, or any change of the table: it is rolled back",
            found=age,
            path=path,
            instant=instant.time,
        )
    elif instant in facts.plans and blocker.age > _LONG_S:
        yield catalogue.PLAN_WAITS.finding(
            f"the plan of {instant.action} {instant.time} waits, and writers keep clear of its file groups",
            blocker.fix,
            found=age,
            path=path,
            instant=instant.time,
        )


def markers(facts: Facts) -> Iterator[Finding]:
    """Markers of instants that are not pending: files of lost attempts may still be there."""
    at_work = {instant.time for instant in facts.state.timeline.pending} | facts.torn
    for time in facts.marked:
        if time not in at_work and not facts.beats.alive(time):
            yield catalogue.MARKERS.finding(
                f"markers of instant {time} are left, which is not pending",
                "run `hudi-services doctor --fix`, or any change of the table: what they name beyond its commit is deleted",
                path=marker_folder(time),
                instant=time,
            )


def heartbeats(facts: Facts) -> Iterator[Finding]:
    """Heartbeats that have expired and have no pending instant: with one, the check of failed writes reports it."""
    pending_times = {instant.time for instant in facts.state.timeline.pending}
    for time, age in facts.beats.ages.items():
        if time not in pending_times and not facts.beats.alive(time):
            yield catalogue.HEARTBEAT.finding(
                f"the heartbeat of instant {time} is left, which is not pending",
                "run `hudi-services doctor --fix`; it does not block any writer",
                found=f"{span(age / 1000)} old",
                path=f"{FOLDER}/{time}",
                instant=time,
            )


def locks(facts: Facts) -> Iterator[Finding]:
    """Locks of holders that are gone, and old ones of unknown holders."""
    for lock in facts.locks:
        if lock.alive is False:
            check, reason = catalogue.LEFT_LOCK, "its holder is gone"
            remedy = "none: the next change of the table takes it over, `hudi-services doctor --fix` too"
        elif lock.alive is None and (lock.age or 0) > _OLD_LOCK_S:
            check, reason = catalogue.LOCK, "whether its holder lives cannot be seen from here"
            remedy = "look whether it is at work; if it is certainly gone, `hudi-services unlock`"
        else:
            continue
        age = f"{span(lock.age)} old; " if lock.age is not None else ""
        yield check.finding(f"a lock is left: {reason}", remedy, found=f"{age}{lock.owner_text}", path=lock.path)

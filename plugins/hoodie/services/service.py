"""A table service: a value that decides, and executes its decision (decision 30).

A service acts at once (`Service`), or puts a plan on the timeline that it or another process carries out later (`Scheduled`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, runtime_checkable

from hoodie.clock import Clock
from hoodie.config.groups import OptionGroup
from hoodie.config.key import RawOptions, resolve
from hoodie.errors import ArgumentError, PendingInstantError
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import living_writers
from hoodie.transaction.locks import Locking
from hoodie.transaction.rollback import failed_writes, is_plan
from hoodie.transaction.transaction import transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess

_log = logging.getLogger(__name__)

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Cache = MutableMapping[Any, Any]
"""Facts that were read before the lock, and are the same under it: a service's own keys and values."""


class Decides(Protocol[P_co]):
    """A service that explains itself. `name` is for people, `options` are the option groups that it takes."""

    @property
    def name(self) -> str:
        """Name for people."""
        ...

    @property
    def options(self) -> OptionGroup:
        """The options that may be said to it."""
        ...

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[P_co]:
        """Plan for the table now, with its reason. Reads, and changes nothing. Raises HoodieError."""
        ...


@runtime_checkable
class Service(Decides[P_co], Protocol[P_co, R]):
    """A service that acts at once."""

    def run(self, access: TableAccess, options: RawOptions) -> R:
        """Decide, and execute. Safe to kill at any point: the next run goes on, or starts again. Raises HoodieError."""
        ...

    def report(self, result: R) -> tuple[str, str | None]:
        """The message about a run, and its instant; None when there was nothing to do."""
        ...


@runtime_checkable
class Scheduled(Decides[P], Protocol[P, R_co]):
    """A service in two steps: its plan waits on the timeline as a pending `action`, and is carried out apart."""

    @property
    def action(self) -> Action:
        """Action of the instants that hold its plans."""
        ...

    def decide(
        self, state: TableState, options: RawOptions, clock: Clock, *, force: bool = False, cache: Cache | None = None
    ) -> Decision[P]:
        """As every service does. With `force` it does not ask whether a plan is due."""
        ...

    def encode(self, plan: P) -> bytes:
        """The plan as bytes on the timeline."""
        ...

    def execute(self, access: TableAccess, time: Time, options: RawOptions) -> R_co:
        """Execute the plan of instant `time`, by any writer.

        Safe to kill at any point, and to repeat. Raises PendingInstantError when no such plan waits.
        """
        ...


def check_service(service: object, *kinds: type) -> None:
    """Raises ArgumentError for an object that is not a service, or is not of one of these kinds (`Service`, `Scheduled`)."""
    if not hasattr(service, "decide") or (kinds and not isinstance(service, kinds)):
        raise ArgumentError(
            "The argument 'service' is not a service that can do this",
            found=f"{service!r:.100} ({type(service).__name__})",
            fix="give one of hoodie.ARCHIVE, CLEAN, CLUSTERING, COMPACTION, LOG_COMPACTION, SYNC, TTL; only clusterings and "
            "compactions are scheduled",
        )


def checked_instant(time: object) -> Time:
    """The instant that a caller names. Raises ArgumentError for any other value."""
    if isinstance(time, str) and time.isascii() and time.isdigit():
        return Time.of(time)
    raise ArgumentError(
        f"{time!r:.100} is not an instant", fix="give the text that `schedule` returned (yyyyMMddHHmmssSSS)"
    )


def schedule(
    access: TableAccess,
    service: Scheduled[P, Any],
    options: RawOptions,
    *,
    force: bool = False,
    only: str | None = None,
) -> tuple[Instant | None, Decision[P]]:
    """Put a plan on the timeline if one is due; with `force` that is not asked. With `only` the plan of this digest and no other.

    The decision without the lock is made again under it. Raises what `service.decide` raises, LockHeldError, and
    PlanChangedError.
    """
    resolved, cache = resolve(options, service.options.keys), dict[Any, Any]()
    locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
    decision = service.decide(access.state(), options, access.clock, force=force, cache=cache)
    decision.only(service.name, access.storage.base_path, only)
    if decision.plan is None:  # without waiting for a writer
        return None, decision
    with transaction(access.storage, access.clock, f"schedule {service.action}", locking, sharing) as tx:
        decision = service.decide(tx.state, options, access.clock, force=force, cache=cache)
        decision.only(service.name, access.storage.base_path, only)
        if decision.plan is None:
            return None, decision
        died = _died_meanwhile(tx.state, access.clock, sharing)
        if died is not None:
            blocked = replace(decision, plan=None, why=f"what {died}, whose writer has died, left goes first")
            blocked.only(service.name, access.storage.base_path, only)
            return None, blocked
        return tx.request(tx.state.layout.requested_as(service.action), service.encode(decision.plan)), decision


def _died_meanwhile(state: TableState, clock: Clock, sharing: ConcurrencyOptions) -> Instant | None:
    """A writer that lived when the transaction began, and that the decision took for dead: its logs may be in the plan, and
    will be rolled back. Logs of version 6 do not name their writer."""
    if state.layout.logs_tell_writer or not sharing.optimistic:
        return None
    return next(failed_writes(state, living_writers(state, clock, sharing)), None)


def pending_plans(state: TableState, *services: Scheduled[Any, Any]) -> list[Instant]:
    """Plans of these services that were scheduled and not completed, the oldest first."""
    actions = {state.layout.requested_as(service.action) for service in services}
    result = [instant for instant in state.timeline.pending if instant.action in actions]
    return [i for i in result if i.action not in WRITE_ACTIONS or is_plan(state, i.time, i.action)]


def carried_out(state: TableState, time: str) -> bool:
    """Return whether the plan of this instant, a compaction or a clustering, is complete: another process was faster, or this
    one was killed before it could report it."""
    completed = next((instant for instant in state.timeline.commits if instant.time == time), None)
    if completed is None:
        return False
    return state.commit_metadata(completed).moves_rows


def execute_waiting(
    access: TableAccess, plans: Iterable[Instant], services: Sequence[Scheduled[Any, R]], options: RawOptions
) -> dict[str, R]:
    """Carry out plans that waited, one after the other; by instant what was done.

    Plans that another process has executed or removed in the meantime are left out. Raises what the services raise.
    """
    layout = access.state().layout
    of_action = {layout.requested_as(service.action): service for service in services}
    results: dict[str, R] = {}
    for instant in plans:
        try:
            results[instant.time] = of_action[instant.action].execute(access, instant.time, options)
        except PendingInstantError:
            if any(pending.time == instant.time for pending in pending_plans(access.state(), *services)):
                raise
            _log.info("%s of table %s: another process was faster", instant.time, access.storage.base_path)
    return results

"""Heartbeats (format notes, section 13): empty files, whose modification time shows that a writer without a lock is at work."""

from __future__ import annotations

import logging
import time as system_time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread

from hoodie.clock import Clock
from hoodie.config.keys.concurrency import MODE, OPTIMISTIC
from hoodie.errors import PendingInstantError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.view.state import TableState

_log = logging.getLogger(__name__)

FOLDER = ".hoodie/.heartbeat"


@dataclass(frozen=True)
class Heartbeats:
    """Those of a table: instant -> age in ms. A pending write without one counts as dead."""

    ages: Mapping[Time, int]
    expiry_ms: int

    @staticmethod
    def of(storage: Storage, clock: Clock, expiry_ms: int) -> Heartbeats:
        """One listing."""
        now_ms = int(clock.now().timestamp() * 1000)
        beats = [file for file in storage.list(FOLDER).files if file.name.isascii() and file.name.isdigit()]
        return Heartbeats({Time.of(file.name): now_ms - file.modified_ms for file in beats}, expiry_ms)

    def alive(self, time: Time) -> bool:
        return time in self.ages and self.ages[time] < self.expiry_ms


def living_writers(state: TableState, clock: Clock, sharing: ConcurrencyOptions) -> frozenset[Time]:
    """The pending write instants whose writers are at work without the lock. Call it under the lock.

    Heartbeats of dead writers that have nothing pending are deleted. Raises PendingInstantError, naming the other writer, for a
    writer that does not share the table: two writers that do not know of each other would overwrite each other's changes.
    """
    writers: dict[Time, Instant] = {i.time: i for i in state.timeline.pending if i.action in WRITE_ACTIONS}
    if not writers and not sharing.optimistic:
        return frozenset()
    beats = Heartbeats.of(state.storage, clock, sharing.expiry_ms)
    alive = frozenset(filter(beats.alive, writers))
    if alive and not sharing.optimistic:
        first = min(alive)
        raise PendingInstantError(
            f"Another writer is at work: {state.where(writers[first])}",
            found=f"its heartbeat is {beats.ages[first] / 1000:.0f} s old",
            fix=f"try again when it is done, a dead writer counts as failed after {sharing.expiry_ms // 1000} s; if several "
            f"writers are meant to share the table, set {MODE.name}={OPTIMISTIC.lower()} and the same lock for all of them",
        )
    for time in beats.ages:
        if time not in writers and not beats.alive(time):
            delete_heartbeat(state.storage, time)
    return alive


def refuse_living(state: TableState, clock: Clock, sharing: ConcurrencyOptions, time: Time) -> None:
    """Before one instant is rolled back by hand. Raises PendingInstantError when its writer is at work."""
    if not any(i.time == time and i.action in WRITE_ACTIONS for i in state.timeline.pending):
        return
    beats = Heartbeats.of(state.storage, clock, sharing.expiry_ms)
    if beats.alive(time):
        raise PendingInstantError(
            f"Instant {time} of table {state.storage.base_path} cannot be rolled back: its writer is at work",
            found=f"its heartbeat is {beats.ages[time] / 1000:.0f} s old",
            fix=f"end that writer first: its instant counts as failed {sharing.expiry_ms // 1000} s after the last heartbeat",
        )


def delete_heartbeat(storage: Storage, time: Time) -> None:
    """Delete the heartbeat of an instant that is done or no more."""
    storage.delete(f"{FOLDER}/{time}")


class Heartbeat:
    """The heartbeat of one instant of this process, renewed by a thread until it is stopped.

    One that was not renewed for so long that others may take the writer for dead stays so: they may have rolled back its write.
    """

    def __init__(
        self,
        storage: Storage,
        time: Time,
        sharing: ConcurrencyOptions,
        monotonic: Callable[[], float] = system_time.monotonic,
    ) -> None:
        self._storage = storage
        self._time = time
        self._sharing = sharing
        self._monotonic = monotonic
        self._last = 0.0
        self._stopped = Event()
        self._thread = Thread(target=self._run, name=f"heartbeat-{time}", daemon=True)

    def start(self) -> None:
        """The first beat, before the instant is on the timeline. Raises what the storage raises."""
        self._beat()
        self._thread.start()

    @property
    def expired(self) -> bool:
        """Return whether others may take this writer for dead."""
        return (self._monotonic() - self._last) * 1000 >= self._sharing.expiry_ms

    def stop(self) -> None:
        """No beat comes after it; the file stays."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def end(self) -> None:
        """Stop, and delete the file: the instant is done, or anybody may take it back at once."""
        self.stop()
        with suppress(Exception):  # then it expires
            delete_heartbeat(self._storage, self._time)

    def _beat(self) -> None:
        start = self._monotonic()  # the file's time is not before
        self._storage.touch(f"{FOLDER}/{self._time}")
        self._last = start

    def _run(self) -> None:
        while not self._stopped.wait(self._sharing.interval_ms / 1000):
            if self.expired:
                return
            try:
                self._beat()
            except Exception as error:  # noqa: BLE001 - any error of a storage
                _log.warning("A heartbeat of %s at %s was missed: %s", self._time, self._storage.base_path, error)

"""Optimistic concurrency control: the lock is held for a moment at the beginning and at the completion (decision 35).

lock -> repair -> instant, heartbeat -> release -> files, a beat a minute -> look for conflicts -> lock -> look again -> completed
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress

from hoodie.clock import Clock
from hoodie.config.properties.store import recover_properties
from hoodie.errors import MissingFileError, UnclearCommitError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.conflicts import Conflict, conflict_error, find_conflict
from hoodie.transaction.heartbeat import Heartbeat
from hoodie.transaction.locks import Locking, table_lock
from hoodie.transaction.metadata_table import switch_off_metadata_table
from hoodie.transaction.repair import repaired
from hoodie.transaction.rollback import log_leftovers, roll_back_instant
from hoodie.transaction.window import Window
from hoodie.view.state import TableState, load_state

_COMPLETE_WAIT_MS = 10 * 60 * 1000  # the work is done: others hold the lock for moments, a clean for longer


class Optimistic:
    """One write beside others: before it is complete it looks whether another has changed what it is about to change."""

    def __init__(
        self, storage: Storage, clock: Clock, purpose: str, locking: Locking, sharing: ConcurrencyOptions
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._purpose = purpose
        self._locking = locking
        self._sharing = sharing
        self._lock = ExitStack()  # holds the lock from the beginning until the instant has begun
        self._locked = False
        self._heartbeat: Heartbeat | None = None
        self._time: Time | None = None

    @contextmanager
    def beginning(self) -> Iterator[TableState]:
        """Repairs what dead writers have left first; instants of living ones stay: see `repaired`. Raises LockHeldError too."""
        unclear = False
        try:
            self._lock.enter_context(table_lock(self._storage, self._clock, self._purpose, self._locking))
            self._locked = True
            yield repaired(self._storage, self._clock, self._sharing)
        except UnclearCommitError:
            unclear = True  # the completed file may yet come: others wait until the heartbeat has expired
            raise
        finally:
            try:
                if self._heartbeat is not None:
                    (self._heartbeat.stop if unclear else self._heartbeat.end)()
            finally:
                self._release()

    @contextmanager
    def opening(self, time: Time) -> Iterator[None]:
        """The heartbeat comes before the instant, so that no process takes it for a dead writer's; with the instant the lock
        goes."""
        heartbeat = Heartbeat(self._storage, time, self._sharing)
        self._time, self._heartbeat = time, heartbeat
        heartbeat.start()
        yield
        self._release()

    @contextmanager
    def completing(self, start: TableState, changes: Sequence[Change]) -> Iterator[TableState]:
        """Raises WriteConflictError, and what the changes raise about changes of others since the begin."""
        checked_state = start
        with suppress(MissingFileError):  # rewritten and cleaned since: the look under the lock is at all that was done
            now = load_state(self._storage, self._clock)
            _check(changes, Window(start, now))  # without the lock, as it may have to read keys
            checked_state = now
        with self._lock_again(f"complete {self._purpose}"):
            recover_properties(self._storage)
            state = load_state(self._storage, self._clock)
            _check(changes, Window(checked_state, state))
            if self._heartbeat is None or self._heartbeat.expired:
                conflict = Conflict("its heartbeat had expired, so others may take it for dead")
                raise conflict_error(state, changes[0].instant, conflict)
            # Hudi's writers may have made one since the begin: it would not know the new files.
            if switch_off_metadata_table(state):
                state = load_state(self._storage, self._clock)
            yield state

    def undo(self) -> None:
        """Roll back the own instant, and no other. If that fails it is left to the next writer, as the heartbeat ends here."""
        try:
            with self._lock_again("roll back"):
                state = load_state(self._storage, self._clock)
                own = next((i for i in state.timeline.pending if i.time == self._time), None)
                if own is not None:
                    roll_back_instant(state, own, self._clock)
        except Exception as error:  # noqa: BLE001 - the error of the write is being raised
            log_leftovers(self._storage, error)

    def _lock_again(self, purpose: str) -> AbstractContextManager[None]:
        if self._locked:
            return nullcontext()
        return table_lock(self._storage, self._clock, purpose, self._locking.waiting_at_least(_COMPLETE_WAIT_MS))

    def _release(self) -> None:
        self._locked = False
        self._lock.close()


def _check(changes: Sequence[Change], window: Window) -> None:
    """Raises WriteConflictError when a change since the begin conflicts with one of these."""
    for change in changes:
        conflict = find_conflict(change, window)
        if conflict is not None:
            raise conflict_error(window.now, change.instant, conflict)
        if window.commits:
            change.meets(window)

"""When a transaction holds the table's lock, from which state it goes out, and what becomes of it when it fails.

Optimistic concurrency control is in `hoodie.transaction.optimistic`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from hoodie.clock import Clock
from hoodie.config.properties.store import recover_properties
from hoodie.errors import PendingInstantError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.locks import Locking, service_lock, table_lock, verify_held
from hoodie.transaction.locks.table_lock import service_lock_path
from hoodie.transaction.metadata_table import switch_off_metadata_table
from hoodie.transaction.reconcile import reconcile_markers
from hoodie.transaction.repair import repaired
from hoodie.transaction.rollback import log_leftovers, roll_back_now, taken_back
from hoodie.transaction.window import Window
from hoodie.view.state import TableState, load_state

_PLAN_LOCK = "compaction"  # for plans of every action: other releases know it by this name
_COMPLETE_WAIT_MS = 6 * 3600 * 1000  # the work is done: a writer that holds the lock for long must not throw it away


class Concurrency(Protocol):
    """How a transaction gets on with others at the same table."""

    def beginning(self) -> AbstractContextManager[TableState]:
        """Around the whole transaction: the state that it goes out from."""
        ...

    def opening(self, time: Time) -> AbstractContextManager[None]:
        """Around the beginning of the instant of that time, of which files are going to be written."""
        ...

    def completing(self, start: TableState, changes: Sequence[Change]) -> AbstractContextManager[TableState]:
        """The state of the table at the completion, under the lock, around it.

        Raises PendingInstantError, and deletes the files of the changes, when the instant is gone or complete; and what the
        changes raise about changes of other writers since the begin.
        """
        ...

    def undo(self) -> None:
        """The transaction has failed before anything of it was completed: roll back what the next attempt would not."""
        ...


@dataclass(frozen=True)
class SingleWriter:
    """The lock is held from the beginning to the end: no other process changes the table."""

    storage: Storage
    clock: Clock
    purpose: str
    locking: Locking
    sharing: ConcurrencyOptions

    @contextmanager
    def beginning(self) -> Iterator[TableState]:
        """Repairs what a crash has left first: see `repaired`. Raises LockHeldError too."""
        with table_lock(self.storage, self.clock, self.purpose, self.locking):
            yield repaired(self.storage, self.clock, self.sharing)

    def opening(self, time: Time) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def completing(self, start: TableState, changes: Sequence[Change]) -> Iterator[TableState]:
        yield start

    def undo(self) -> None:
        """Roll the failed write back at once; not when the lock is lost, as pending instants may be those of its next holder."""
        try:
            verify_held()
        except Exception as error:  # noqa: BLE001 - the error of the write is being raised
            log_leftovers(self.storage, error)
            return
        roll_back_now(self.storage, self.clock, self.sharing)


@dataclass(frozen=True)
class PlanExecution:
    """A plan that waits on the timeline is carried out: one process does so, and writers go on until it completes."""

    storage: Storage
    clock: Clock
    time: Time
    action: Action
    locking: Locking

    @contextmanager
    def beginning(self) -> Iterator[TableState]:
        """Raises LockHeldError when another process carries it out, PendingInstantError while it is being rolled back."""
        with plan_lock(self.storage, self.clock, self.time, self.locking):
            state = load_state(self.storage, self.clock)
            state.properties.check_changeable()
            self._refuse_taken_back(state)
            yield state

    def opening(self, time: Time) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def completing(self, start: TableState, changes: Sequence[Change]) -> Iterator[TableState]:
        locking = self.locking.waiting_at_least(_COMPLETE_WAIT_MS)
        with table_lock(self.storage, self.clock, f"complete {self.action}", locking):
            recover_properties(self.storage)
            state = load_state(self.storage, self.clock)
            try:
                self._refuse_taken_back(state)
                self._refuse_gone(state, pending_plan(state, self.time, self.action))
            except PendingInstantError:
                self._withdraw(state, changes)
                raise
            for change in changes:
                change.meets(Window(start, state))
            # Hudi's writers may have made one since the begin: it would not know the new files.
            if switch_off_metadata_table(state):
                state = load_state(self.storage, self.clock)
            yield state

    def undo(self) -> None:
        """The plan stays, and its next execution deletes what this one wrote."""

    def _withdraw(self, state: TableState, changes: Sequence[Change]) -> None:
        """Delete the files of an attempt whose plan waits no more, but none that another process has committed."""
        committed = next((instant for instant in state.timeline.commits if instant.time == self.time), None)
        committed_paths = set[str]()
        if committed is None:
            reconcile_markers(self.storage, self.time, ())
        else:
            committed_paths = {path for stat in state.commit_metadata(committed).stats for path in stat.paths}
        # A process that rolled the plan back may have deleted the markers before these files were there.
        files = {path for change in changes for path in change.files}
        delete_data_files(self.storage, files - committed_paths)

    def _refuse_taken_back(self, state: TableState) -> None:
        """The commit of a plan goes first when it is rolled back, and the plan last: between them it looks as if it waited."""
        rollback = taken_back(state, self.time)
        if rollback is not None:
            raise PendingInstantError(
                f"{self.action} {self.time} of table {self.storage.base_path} is being rolled back",
                found=f"{rollback.action} {rollback.time}, which is not complete",
                fix="wait for it; if its process has ended, the next write finishes it",
            )

    def _refuse_gone(self, state: TableState, instant: Instant) -> None:
        """A rollback of a plan deletes its inflight file before the plan: a run that begins in between brings the inflight
        file back."""
        path = state.layout.requested_path(instant.time, instant.action)
        try:
            self.storage.read(path)
        except FileNotFoundError as error:
            raise PendingInstantError(
                f"{self.action} {self.time} of table {self.storage.base_path} has no plan any more",
                found=f"no {path}: it was rolled back during the run",
                fix="nothing was committed; schedule another",
            ) from error


def plan_lock(storage: Storage, clock: Clock, time: Time, locking: Locking) -> AbstractContextManager[None]:
    """Held by who carries out the plan of an instant, or gives up what was begun of it. Raises LockHeldError."""
    return service_lock(storage, clock, _plan_lock(time), locking)


def plan_lock_path(time: Time) -> str:
    """The file of that lock."""
    return service_lock_path(_plan_lock(time))


def _plan_lock(time: Time) -> str:
    return f"{_PLAN_LOCK}-{time}"


def pending_plan(state: TableState, time: Time, action: Action) -> Instant:
    """The plan of `action` that waits at `time`. Raises PendingInstantError, naming those that do."""
    pending = [instant for instant in state.timeline.pending if instant.action is action]
    for instant in pending:
        if instant.time == time:
            return instant
    raise PendingInstantError(
        f"Table {state.storage.base_path} has no pending {action} {time}",
        found=f"pending are {', '.join(i.time for i in pending) or 'none'}",
        fix="schedule one, or name one of these",
    )

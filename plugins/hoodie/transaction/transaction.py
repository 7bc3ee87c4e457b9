"""The one commit point: how a change to a table begins, becomes visible, or is rolled back (format notes, section 11).

lock -> requested -> inflight -> files -> reconcile markers -> lock -> completed -> reconcile again -> delete markers
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

from hoodie.clock import Clock
from hoodie.engine.base import Engine
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant
from hoodie.transaction import instants
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency import Concurrency, PlanExecution, SingleWriter
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.data_file import OpenDataFile
from hoodie.transaction.early_conflicts import EarlyDetection
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.optimistic import Optimistic
from hoodie.transaction.reconcile import after_completion, delete_markers, reconcile_markers
from hoodie.transaction.recovery import recovered
from hoodie.transaction.schemas import with_history
from hoodie.transaction.write_tokens import own_tokens
from hoodie.view.state import TableState, load_state

Attempts = Callable[[TableState], Iterable[str]]
"""The data files that attempts at an instant have left, in this state of the table."""


class Transaction:
    """A change under way; `state` is the table as it was when the change began, or was last looked at."""

    def __init__(self, state: TableState, clock: Clock, concurrency: Concurrency, marking: MarkerOptions) -> None:
        """Use `transaction` or `execution`."""
        self.state = state
        self._clock = clock
        self._concurrency = concurrency
        self._marking = marking
        self._noting = ExitStack()  # what makes the markers of tasks
        self._attempts: dict[str, Attempts] = {}
        self._undoable = False

    def request(self, action: Action, plan: bytes = b"") -> Instant:
        """Put a plan on the timeline, at an instant later than every other."""
        return instants.request(self.state, new_time(self.state, self._clock), action, plan)

    def open(
        self, action: Action, plan: bytes = b"", operation: str | None = None, *, time: Time | None = None
    ) -> Instant:
        """Begin an instant that writes data files. From here on a failure of the transaction takes it back.

        `plan` is what its request holds; the file that says that it is at work names the `operation`, None: is empty.
        """
        time = time or new_time(self.state, self._clock)
        body = self.state.layout.encode_commit(CommitMetadata(operation), replace=False) if operation else b""
        with self._concurrency.opening(time):
            requested = instants.request(self.state, time, action, plan)
            self._undoable = True
            return instants.start(self.state, requested, body)

    def resume(self, plan: Instant, attempts: Attempts) -> Instant:
        """Begin a pending plan, or begin it again: files of earlier `attempts` are deleted."""
        inflight = instants.start(self.state, plan)
        leftovers = set(attempts(self.state))
        delete_data_files(self.state.storage, leftovers)
        delete_markers(self.state.storage, plan.time)
        if leftovers:
            recovered(
                f"began {plan.action} {plan.time} again and removed {len(leftovers)} files of a try that was cut short"
            )
        self._attempts[plan.time] = attempts
        return inflight

    def writing(self, instant: Instant, engine: Engine) -> OpenDataFile:
        """Access for the tasks of `engine` that write files of a begun instant. Raises ConfigError when their markers cannot
        be made as the options say."""
        path = self.state.layout.inflight_path(instant.time, instant.action)
        write_token = engine.write_token
        if not self.state.layout.logs_tell_writer:
            write_token = own_tokens(write_token, instant.time)
        marking, early = self._marking, None
        if marking.looking is not None:
            early = EarlyDetection.of(self.state, self._clock, instant.time, marking.looking)
        markers = marking.markers(self.state.storage, instant.time, engine, early, self._noting)
        return OpenDataFile(markers, path, write_token, early if marking.tasks_look else None)

    def refresh(self) -> None:
        """Look at the table again, after the transaction has changed it."""
        self.state = load_state(self.state.storage, self._clock)

    def commit(self, *changes: Change) -> Sequence[Change]:
        """Complete instants one right after the other: the step that readers see. Returns the changes as they are on the
        timeline.

        Files that lost attempts have left are deleted before, and once more after it: a task that was given up for lost may have
        finished since, and did not see the completed instant. Raises what `instants.complete` raises; from then on nothing is
        rolled back here, as what was completed must stay. Before that: WriteConflictError.
        """
        storage = self.state.storage
        for change in changes:
            reconcile_markers(storage, change.instant.time, change.files)
        complete_changes = [change.with_late_metadata() for change in changes]
        with self._concurrency.completing(self.state, complete_changes) as state:
            complete_changes = [with_history(state, change, self._clock) for change in complete_changes]
            bodies = [
                _encoded(state, change) for change in complete_changes
            ]  # an upgrade may have changed the layout since the begin
            self._undoable = False
            completed_changes, last = list[Change](), None
            for change, body in zip(complete_changes, bodies, strict=True):
                completed = instants.complete(state, change.instant, body, self._clock, after=last)
                completed_changes.append(replace(change, instant=completed))
                last = completed.completion_time
        for change in changes:
            with after_completion(storage, change.instant.time):
                self._reconcile(state, change)
                self.close()
                delete_markers(storage, change.instant.time, self._marking.delete_threads)
        return completed_changes

    def _reconcile(self, state: TableState, change: Change) -> None:
        time = change.instant.time
        if time in self._attempts:
            delete_data_files(state.storage, set(self._attempts[time](state)).difference(change.files))
        else:
            reconcile_markers(state.storage, time, change.files)

    def close(self) -> None:
        """Nothing waits for markers any more. Tasks that outlive the write note their files by themselves."""
        self._noting.close()

    def failed(self) -> None:
        """Take back what was begun, unless something of it may be complete."""
        if self._undoable:
            self._concurrency.undo()


@contextmanager
def transaction(
    storage: Storage,
    clock: Clock,
    purpose: str,
    locking: Locking,
    sharing: ConcurrencyOptions | None = None,
    marking: MarkerOptions | None = None,
) -> Iterator[Transaction]:
    """A change under the table's lock, on a table that was repaired (see `repaired`).

    When the block raises before anything is complete, what it began is rolled back; when the process dies, the next transaction
    does that. Raises LockHeldError when another holds the lock for longer than `locking` waits, PendingInstantError when another
    writer is at work without the lock, unless `sharing` says that there may be some: then what they have begun stays.
    """
    single = SingleWriter(storage, clock, purpose, locking, sharing or ConcurrencyOptions())
    with _transaction(clock, single, marking) as began:
        yield began


@contextmanager
def optimistic(
    storage: Storage,
    clock: Clock,
    purpose: str,
    locking: Locking,
    sharing: ConcurrencyOptions,
    marking: MarkerOptions | None = None,
) -> Iterator[Transaction]:
    """A change beside those of other writers: the table's lock is only held to begin and to complete it.

    A failed write is rolled back as in `transaction`; the next process rolls back that of a dead process, once its heartbeat has
    expired. Raises LockHeldError, and WriteConflictError at the completion.
    """
    with _transaction(clock, Optimistic(storage, clock, purpose, locking, sharing), marking) as began:
        yield began


@contextmanager
def execution(
    storage: Storage, clock: Clock, time: Time, action: Action, locking: Locking, marking: MarkerOptions | None = None
) -> Iterator[Transaction]:
    """The execution of the plan that waits at `time`; the table's lock is only taken to complete it.

    Safe to kill at any point: the next execution deletes what this one wrote. Raises LockHeldError when another process executes
    it, PendingInstantError when it waits no more by the time it is to be completed.
    """
    with _transaction(clock, PlanExecution(storage, clock, time, action, locking), marking) as began:
        yield began


@contextmanager
def _transaction(clock: Clock, concurrency: Concurrency, marking: MarkerOptions | None) -> Iterator[Transaction]:
    with concurrency.beginning() as state:
        began = Transaction(state, clock, concurrency, marking or MarkerOptions())
        try:
            with closing(began):
                yield began
        except Exception:
            began.failed()
            raise


def _encoded(state: TableState, change: Change) -> bytes:
    replaces = change.instant.action.completed_as is Action.REPLACE_COMMIT
    return state.layout.encode_commit(change.metadata, replace=replaces)

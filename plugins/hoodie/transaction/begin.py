"""The start of every change to a table: lock, repair what a crash left, load the state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.clock import Clock
from hoodie.config.store import recover_properties
from hoodie.errors import PendingInstantError
from hoodie.storage.base import Storage
from hoodie.timeline import Action
from hoodie.transaction.lock import table_lock
from hoodie.transaction.metadata_table import switch_off_metadata_table
from hoodie.transaction.remains import delete_remains, marked_instants
from hoodie.transaction.rollback import rollback_failed_writes
from hoodie.view.state import TableState, load_state

_WRITES = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT)
_HEARTBEAT_EXPIRY_MS = 120_000  # two missed beats of Hudi's 60 s


@contextmanager
def begin(storage: Storage, clock: Clock, purpose: str, wait_ms: int) -> Iterator[TableState]:
    """Hold the lock for the block and give the state of a table that is ready to be changed.

    What crashes left is mended first: a half-done update of the properties, failed writes (rolled back), a metadata table
    that would go stale (switched off), files that nobody finishes any more. Raises LockHeldError, PendingInstantError when
    another writer's heartbeat is alive, UnsupportedTableError for a table version that we do not know.
    """
    with table_lock(storage, clock, purpose, wait_ms):
        recover_properties(storage)
        marked = marked_instants(storage)
        state = load_state(storage, clock)
        _check_heartbeats(state, clock)
        changed = switch_off_metadata_table(state)
        if rollback_failed_writes(state, clock) or changed:
            state = load_state(storage, clock)
        delete_remains(state, marked)
        yield state


def _check_heartbeats(state: TableState, clock: Clock) -> None:
    writers = {i.time: i for i in state.timeline.pending if i.action in _WRITES}
    if not writers:
        return
    now_ms = clock.now().timestamp() * 1000
    for file in state.storage.list(".hoodie/.heartbeat").files:
        age = now_ms - file.modified_ms
        if file.name in writers and age < _HEARTBEAT_EXPIRY_MS:
            raise PendingInstantError(
                f"Another writer is at work: {state.where(writers[file.name])}",
                found=f"its heartbeat is {age / 1000:.0f} s old",
                fix=f"try again when it is done; a dead writer counts as failed after {_HEARTBEAT_EXPIRY_MS // 1000} s",
            )

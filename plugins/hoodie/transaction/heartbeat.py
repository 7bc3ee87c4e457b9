"""Heartbeats of Hudi's writers (format notes, section 13): one that is alive is at work, though it holds no lock of ours."""

from __future__ import annotations

from hoodie.clock import Clock
from hoodie.errors import PendingInstantError
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.view.state import TableState

FOLDER = ".hoodie/.heartbeat"
_EXPIRY_MS = 120_000  # two missed beats of Hudi's 60 s


def check_heartbeats(state: TableState, clock: Clock) -> None:
    """Raises PendingInstantError when the writer of a pending write instant is alive."""
    writers: dict[str, Instant] = {i.time: i for i in state.timeline.pending if i.action in WRITE_ACTIONS}
    if not writers:
        return
    now_ms = clock.now().timestamp() * 1000
    for file in state.storage.list(FOLDER).files:
        age = now_ms - file.modified_ms
        if file.name in writers and age < _EXPIRY_MS:
            raise PendingInstantError(
                f"Another writer is at work: {state.where(writers[file.name])}",
                found=f"its heartbeat is {age / 1000:.0f} s old",
                fix=f"try again when it is done; a dead writer counts as failed after {_EXPIRY_MS // 1000} s",
            )


def delete_heartbeat(state: TableState, time: Time) -> None:
    """Delete the heartbeat of an instant that is no more."""
    state.storage.delete(f"{FOLDER}/{time}")

"""The lock of the table that the work at hand is done under: what completes an instant asks whether it still is held."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hoodie.errors import LockLostError
from hoodie.transaction.locks.base import HeldLock

_current: ContextVar[HeldLock | None] = ContextVar("table_lock", default=None)


@contextmanager
def holding(lock: HeldLock) -> Iterator[None]:
    """For the time of the block the work is done under `lock`."""
    token = _current.set(lock)
    try:
        yield
    finally:
        _current.reset(token)


def holds_lock() -> bool:
    """Return whether this code runs under the table's lock."""
    return _current.get() is not None


def verify_held() -> None:
    """Raises LockLostError when the lock was lost. A writer that was stopped for long does not know it before it asks."""
    lock = _current.get()
    if lock is not None:
        lock.verify()


def certainly_held() -> bool:
    """Return whether the lock was held all the time since the last `verify_held`."""
    lock = _current.get()
    return lock is None or lock.certain()


def ensure_held() -> None:
    """As `verify_held`, but asks only if time alone cannot prove it. Raises LockLostError."""
    if not certainly_held():
        verify_held()


@contextmanager
def certain_change(change: str, command: str) -> Iterator[None]:
    """Around the steps of a change that the next writer ends if this one cannot: a rollback or restore whose plan is there.

    An error about the lost lock then says so, and names the `command` that goes on.
    """
    try:
        yield
    except LockLostError as error:
        error.replace_fix(
            f"run `{command}` again: {change} has begun and takes effect, and the next change of the table ends it. If the "
            "command finds nothing to take back, another process has ended it"
        )
        raise

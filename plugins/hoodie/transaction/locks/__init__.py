"""Locks: how the writers of a table, and those that carry out one plan, exclude each other."""

from hoodie.transaction.locks.current_lock import certain_change, certainly_held, ensure_held, verify_held
from hoodie.transaction.locks.locking import Locking
from hoodie.transaction.locks.status import FoundLock, break_lock, found_locks
from hoodie.transaction.locks.table_lock import service_lock, table_lock

__all__ = [
    "FoundLock",
    "Locking",
    "break_lock",
    "certain_change",
    "certainly_held",
    "ensure_held",
    "found_locks",
    "service_lock",
    "table_lock",
    "verify_held",
]

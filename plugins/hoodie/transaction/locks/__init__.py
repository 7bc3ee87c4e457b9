"""Locks: how the writers of a table, and those that carry out one plan, exclude each other."""

from hoodie.transaction.locks.held import certainly_held, verify_held
from hoodie.transaction.locks.locking import Locking
from hoodie.transaction.locks.table_lock import break_lock, held_locks, service_lock, table_lock

__all__ = [
    "Locking",
    "break_lock",
    "certainly_held",
    "held_locks",
    "service_lock",
    "table_lock",
    "verify_held",
]

"""Dropping a table: one step makes it unreadable, then its files go. Nothing outside of its folder is deleted."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

from hoodie.clock import Clock
from hoodie.config.properties.store import COPYING, DROPPED, MOVING
from hoodie.services.obstacle import Obstacle, refuse
from hoodie.services.relocation.marks import is_retired, retire
from hoodie.services.relocation.obstacles import at_work, inside, readers
from hoodie.services.relocation.plan import RelocationPlan, plan_of
from hoodie.storage.base import Storage, walk_files
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.locks.table_lock import table_lock
from hoodie.view import load_state


def plan_drop(storage: Storage, clock: Clock, sharing: ConcurrencyOptions) -> RelocationPlan:
    """Look at a table, or at one whose drop or copy was cut short. Raises TableNotFoundError where there is neither."""
    continued = any(is_retired(storage, mark) for mark in (DROPPED, MOVING, COPYING)) or is_emptied(storage)
    obstacles = list(inside(storage))
    if is_retired(storage, MOVING):
        obstacles.append(
            Obstacle("move", "a move of it was cut short, and all its rows are here", "run the move again first")
        )
    if not continued:
        state = load_state(storage, clock)
        obstacles += [*at_work(state, clock, sharing), *readers(state)]
    return plan_of(storage.base_path, None, walk_files(storage, ""), obstacles, continued=continued)


def run_drop(
    storage: Storage, clock: Clock, locking: Locking, sharing: ConcurrencyOptions, despite: Collection[str] = ()
) -> RelocationPlan:
    """Drop the table; after a kill it is whole, or the next call ends the drop. `despite` are kinds of obstacles to pass over.

    Raises what `plan_drop` raises, PendingInstantError for an obstacle, and LockHeldError.
    """
    operation = f"The drop of table {storage.base_path}"
    plan = plan_drop(storage, clock, sharing)
    refuse(operation, plan.obstacles, despite)
    if not plan.continued:
        with table_lock(storage, clock, "drop", locking):
            refuse(operation, plan_drop(storage, clock, sharing).obstacles, despite)
            retire(storage, DROPPED)
    empty(storage)
    return plan


def empty(storage: Storage) -> None:
    """Delete all files of a table that was made unreadable. The file that says so goes last."""
    for folder in storage.list("").folders:
        if folder != ".hoodie":
            storage.delete_folder(folder)
    for file in storage.list("").files:
        storage.delete(file.path)
    own = storage.list(".hoodie")
    for folder in own.folders:
        storage.delete_folder(folder)
    for file in own.files:
        if file.path not in (DROPPED, MOVING, COPYING):
            storage.delete(file.path)
    for mark in (MOVING, COPYING, DROPPED):
        storage.delete(mark)
    _remove_folders(storage)


def _remove_folders(storage: Storage) -> None:
    """Remove what is left without the marks: folders. A table that another process has created since stays."""
    if "://" not in storage.base_path:
        with suppress(OSError):  # it is not empty, or the right to delete it is missing
            os.rmdir(os.path.join(storage.base_path, ".hoodie"))
            os.rmdir(storage.base_path)
    elif not storage.list(".hoodie").files:
        storage.delete_folder(".hoodie")


def is_emptied(storage: Storage) -> bool:
    """Return whether a drop was cut short at its end, so that an empty folder is left."""
    listing, own = storage.list(""), storage.list(".hoodie")
    return listing.folders == (".hoodie",) and not (listing.files or own.files or own.folders)

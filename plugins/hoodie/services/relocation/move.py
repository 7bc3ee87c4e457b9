"""Moving a table: renaming its folder on a local disk, otherwise a copy and a drop."""

from __future__ import annotations

import os
from pathlib import Path

from hoodie.clock import Clock
from hoodie.config.properties.store import COPYING, DROPPED, MOVING, PROPERTIES
from hoodie.model.place import same_table
from hoodie.services.obstacle import refuse
from hoodie.services.relocation.copy import plan_copy, refuse_occupied, run_copy
from hoodie.services.relocation.drop import empty, is_emptied
from hoodie.services.relocation.marks import is_retired, read_copy_mark, retire
from hoodie.services.relocation.plan import RelocationPlan, plan_of
from hoodie.storage import LocalStorage
from hoodie.storage.base import Storage, walk_files
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.locks.table_lock import table_lock


def plan_move(source: Storage, target: Storage, clock: Clock, sharing: ConcurrencyOptions) -> RelocationPlan:
    """Look at a table and its new place, also where a move was cut short. Raises what `plan_copy` raises."""
    target = _absolute(target)
    if not _is_cut_short(source, target):
        return plan_copy(source, target, clock, sharing, is_move=True)
    files = [file for storage in (source, target) for file in walk_files(storage, "")]
    return plan_of(source.base_path, target.base_path, files, (), continued=True)


def run_move(
    source: Storage,
    target: Storage,
    clock: Clock,
    locking: Locking,
    sharing: ConcurrencyOptions,
    *,
    at_once: int = 8,
) -> RelocationPlan:
    """Move the table. A kill leaves it readable at one place, or at none until the next call ends the move; where it is copied,
    a kill just before its old place is given up leaves it at both.

    Raises what `run_copy` raises.
    """
    target = _absolute(target)
    plan = plan_move(source, target, clock, sharing)
    if not _is_cut_short(source, target):
        refuse(f"The move of table {source.base_path}", plan.obstacles, ())
        if not plan.continued and _on_one_disk(source, target):
            with table_lock(source, clock, "move", locking):
                locked_plan = plan_move(source, target, clock, sharing)
                refuse(f"The move of table {source.base_path}", locked_plan.obstacles, ())
                retire(source, MOVING)
        else:
            run_copy(source, target, clock, locking, sharing, is_move=True, at_once=at_once)
    _finish(source, target)
    return plan


def _finish(source: Storage, target: Storage) -> None:
    """End a move that cannot go back any more."""
    if is_retired(source, MOVING):
        refuse_occupied(target)
        Path(target.base_path).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(source.base_path, target.base_path)
        except OSError:  # such as another disk below the folder
            source.move(MOVING, PROPERTIES)
            raise
    if is_retired(target, MOVING):
        target.move(MOVING, PROPERTIES)
    if is_retired(source, DROPPED) or is_emptied(source):
        empty(source)
    target.delete(MOVING)
    target.delete(COPYING)


def _absolute(target: Storage) -> Storage:
    """The place by a path that stays the same when the folder of the source is gone, which may be a part of it."""
    return target if "://" in target.base_path else LocalStorage(os.path.realpath(target.base_path))


def _is_cut_short(source: Storage, target: Storage) -> bool:
    """Return whether a move has made the table unreadable at its old place, or has only to remove its marks."""
    if is_retired(source, MOVING):
        return True
    if source.info(PROPERTIES) is not None:
        return False
    if is_retired(target, MOVING):
        return True
    mark = read_copy_mark(target)
    moved = mark is not None and mark.is_move and same_table(mark.source, source.base_path)
    return moved and target.info(PROPERTIES) is not None


def _on_one_disk(source: Storage, target: Storage) -> bool:
    """Return whether a local folder can be renamed to the other place."""
    if "://" in source.base_path or "://" in target.base_path:
        return False
    place = Path(target.base_path).parent
    while not place.exists():
        place = place.parent
    return os.stat(source.base_path).st_dev == os.stat(place).st_dev

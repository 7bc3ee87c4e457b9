"""Obstacles to dropping, copying or moving a whole table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from hoodie.changes.consumer_position import Position, positions
from hoodie.clock import Clock
from hoodie.config.keys.concurrency import OPTIMISTIC
from hoodie.config.properties.store import BACKUP, COPYING, DROPPED, MOVING, PROPERTIES
from hoodie.display import some
from hoodie.services.obstacle import Obstacle
from hoodie.storage.base import Storage
from hoodie.timeline import Action
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.transaction.locks import found_locks
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.locks.lease import TABLE_LOCK
from hoodie.view import TableState

CONSUMERS, SAVEPOINTS = "consumers", "savepoints"
"""Kinds of obstacles that a user may pass over."""

SIGNS = (PROPERTIES, BACKUP, DROPPED, MOVING, COPYING)
"""Files by which a folder is a table, or what a command has left of one."""


def at_work(state: TableState, clock: Clock, sharing: ConcurrencyOptions) -> Iterator[Obstacle]:
    """Services that execute a plan, and writers without the lock, by their signs of life. The table's own lock is not asked."""
    for lock in found_locks(state.storage, clock):
        if lock.path not in (LOCK, TABLE_LOCK) and lock.alive is not False:
            yield Obstacle(
                "locks", f"{lock.path} is held", "wait for its holder, or `hudi-services unlock` if it is gone"
            )
    beats = Heartbeats.of(state.storage, clock, sharing.expiry_ms)
    alive = [str(instant.time) for instant in state.timeline.pending if beats.alive(instant.time)]
    if alive:
        yield Obstacle("writers", f"{some(alive)} are being written", f"wait for them ({OPTIMISTIC.lower()} writers)")


def pending(state: TableState) -> Iterator[Obstacle]:
    """Instants that are not complete: a copy would hold plans whose paths may be those of the source."""
    if instants := [f"{instant.time} ({instant.action})" for instant in state.timeline.pending]:
        yield Obstacle(
            "pending",
            f"{some(instants)} not complete",
            "execute the plans, such as by `hudi-services compact`, or take them back by `hudi-services rollback`",
        )


def readers(state: TableState) -> Iterator[Obstacle]:
    """Consumers and savepoints, which a user made to have the table later."""
    names = [position.consumer for position in positions(state.storage) if isinstance(position, Position)]
    if names:
        delete = f"`hudi-services consumer delete {shlex.quote(names[0])}`"
        yield Obstacle(CONSUMERS, f"{some(names)} read the changes", _repeated(delete, names, "--despite consumers"))
    saved = [str(instant.time) for instant in state.timeline if instant.action is Action.SAVEPOINT]
    if saved:
        delete = f"`hudi-services savepoint delete --instant {saved[0]}`"
        yield Obstacle(SAVEPOINTS, f"{some(saved)} are kept", _repeated(delete, saved, "--despite savepoints"))


def _repeated(command: str, names: Sequence[str], flag: str) -> str:
    """The command for the first, and the flag that makes it needless."""
    return f"{command}{' and so on for each' if len(names) > 1 else ''}, or {flag}"


def inside(storage: Storage) -> Iterator[Obstacle]:
    """Links of a local folder, whose targets may be of others, and tables below the table's folder."""
    base = storage.base_path
    if "://" not in base:
        links = [base] if os.path.islink(base) else []
        for folder, folders, files in os.walk(base):
            links += [path for name in (*folders, *files) if os.path.islink(path := os.path.join(folder, name))]
        if links:
            yield Obstacle("links", f"{some(links)} lead elsewhere", "remove the links; their targets stay")
    nested = list(nested_tables(storage))
    if nested:
        yield Obstacle("tables", f"{some(nested)} are tables inside of it", "move them away first")


def nested_tables(storage: Storage, folder: str = "") -> Iterator[str]:
    """Tables below the folder, also those whose properties are being changed, or that a drop, move or copy has begun with."""
    for below in storage.list(folder).folders:
        if below.rpartition("/")[2] != ".hoodie":
            yield from nested_tables(storage, below)
        elif folder and not {f"{folder}/{sign}" for sign in SIGNS}.isdisjoint(_paths(storage, below)):
            yield folder


def _paths(storage: Storage, folder: str) -> Iterator[str]:
    return (file.path for file in storage.list(folder).files)

"""The locks of a table and its plans with their holders, and the writers without a lock that give signs of life."""

from __future__ import annotations

from typing import Any

from hoodie.times import span
from hoodie.transaction.heartbeat import FOLDER
from hoodie.transaction.locks import FoundLock, found_locks
from hoodie.transaction.locks.servers import server_lock
from hudi_services.operations.inspect.page import Column, Listing, Page
from hudi_services.operations.inspect.table_look import Look

_BEATS_S = 120  # two of Hudi's beats: a writer that misses them counts as dead


def _expiry_text(seconds: float | None) -> str:
    if seconds is None:
        return "never"
    return f"in {span(seconds)}" if seconds > 0 else f"{span(-seconds)} ago"


LOCKS = (
    Column("path", "lock"),
    Column("kind", "kind", rank=2),
    Column("purpose", "for"),
    Column("holder", "holder", wraps=True),
    Column("age", "age", span, right=True),
    Column("expires_in", "runs out", _expiry_text),
    Column("alive", "holder", lambda alive: {True: "is alive", False: "is gone"}.get(alive, "not known")),
)


def locks(look: Look) -> Page:
    server = server_lock(look.storage.base_path, look.locking)
    elsewhere = server.find(look.clock) if server is not None else None
    rows = [*lock_rows(look), *([lock_row(elsewhere)] if elsewhere is not None else []), *_heartbeats(look)]
    return Page(
        {"table": look.state.properties.name, "locks": rows}, [Listing(LOCKS, rows, empty="the table is not locked")]
    )


def lock_rows(look: Look) -> list[dict[str, Any]]:
    """A lock of another program says nothing of its holder."""
    return [lock_row(lock) for lock in found_locks(look.storage, look.clock)]


def lock_row(lock: FoundLock) -> dict[str, Any]:
    """A lock as values. `alive` is false when the next writer takes the lock over, true for a process of this machine
    that runs, and null otherwise."""
    owner = lock.owner
    return {
        "path": lock.path,
        "kind": lock.kind,
        "purpose": owner.purpose if owner is not None else None,
        "holder": f"process {owner.pid} of {owner.host}" if owner is not None else lock.owner_text,
        "pid": owner.pid if owner is not None else None,
        "host": owner.host if owner is not None else None,
        "age": lock.age,
        "expires_in": lock.expires_in,
        "alive": lock.alive,
    }


def _heartbeats(look: Look) -> list[dict[str, Any]]:
    rows = []
    for file in look.storage.list(FOLDER).files:
        age = round(look.now.timestamp() - file.modified_ms / 1000, 3)
        nobody = dict.fromkeys(("holder", "pid", "host"))
        rows.append(
            {
                "path": file.path,
                "kind": "heartbeat",
                "purpose": f"instant {file.name}",
                **nobody,
                "age": age,
                "expires_in": round(_BEATS_S - age, 3),
                "alive": age < _BEATS_S,
            }
        )
    return rows

"""Who holds the locks of a table and its services."""

from __future__ import annotations

from typing import Any

from hoodie.transaction.locks import held_locks
from hoodie.transaction.locks.owner import LockOwner
from hudi_services.show.look import Look
from hudi_services.show.page import Column, Listing, Page
from hudi_services.show.words import span

LOCKS = (
    Column("path", "lock"),
    Column("purpose", "for"),
    Column("holder", "holder"),
    Column("age", "age", span, right=True),
    Column("dead", "holder is gone", lambda dead: "yes: the next writer takes it over" if dead else "not known"),
)


def locks(look: Look) -> Page:
    rows = lock_rows(look)
    return Page(
        {"table": look.state.properties.name, "locks": rows}, [Listing(LOCKS, rows, empty="the table is not locked")]
    )


def lock_rows(look: Look) -> list[dict[str, Any]]:
    """A lock of another program says nothing of its holder. `dead` is true when the holder certainly runs no more."""
    rows = []
    for path, content in held_locks(look.storage).items():
        owner, info = LockOwner.parse(content.encode()), look.storage.info(path)
        rows.append(
            {
                "path": path,
                "purpose": owner.purpose if owner is not None else None,
                "holder": f"process {owner.pid} of {owner.host}"
                if owner is not None
                else " ".join(content.split())[:200],
                "age": round(look.now.timestamp() - info.modified_ms / 1000, 3) if info is not None else None,
                "dead": owner is not None and owner.is_dead(),
            }
        )
    return rows

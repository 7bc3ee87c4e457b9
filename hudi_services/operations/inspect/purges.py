"""The purges of a table that have not erased everything, with what holds their files."""

from __future__ import annotations

from typing import Any

from hoodie.services.purge.leftovers import UnfinishedPurge, unfinished_purges
from hoodie.times import ago
from hudi_services.operations.inspect.page import Column
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, size

PURGES = (
    Column("condition", "SHA-256 of the condition", lambda digest: digest[:8]),
    Column("age", "last run", ago, right=True),
    Column("files", "files held", count, right=True),
    Column("bytes", "size", size, right=True),
    Column("held_by", "held by", "; ".join, wraps=True),
    Column("left", "files no purge rewrites", count, right=True, rank=2),
)


def purge_rows(look: Look) -> list[dict[str, Any]]:
    """A row for each purge, the oldest first. One listing, and a read for each of them."""
    return [_row(look, purge) for purge in unfinished_purges(look.storage)]


def _row(look: Look, purge: UnfinishedPurge) -> dict[str, Any]:
    return {
        "condition": purge.digest,
        "at": purge.at.isoformat(),
        "age": look.age(purge.at),
        "ended": purge.ended,
        "can_go_on": purge.can_go_on,
        "files": purge.files,
        "bytes": purge.bytes,
        "held_by": [holder.by for holder in purge.holders],
        "fixes": [holder.fix for holder in purge.holders],
        "left": purge.left,
        "came_back": purge.came_back,
    }

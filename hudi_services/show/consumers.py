"""The named consumers of a table, and how far they are behind."""

from __future__ import annotations

from typing import Any

from hoodie.changes.consumer_lag import unread
from hoodie.changes.consumer_position import Position, positions
from hoodie.times import span
from hudi_services.show.look import Look
from hudi_services.show.page import Column, Listing, Page

CONSUMERS = (
    Column("consumer", "consumer"),
    Column("position", "position", lambda position: position or "earliest"),
    Column("commits_behind", "commits behind", right=True),
    Column("seconds_behind", "behind", span, right=True),
    Column("age", "committed", lambda age: f"{span(age)} ago", right=True),
    Column("committed_by", "by"),
)


def consumers(look: Look) -> Page:
    found = list(positions(look.storage))
    rows = [_row(look, each) for each in found if isinstance(each, Position)]
    problems = [str(each) for each in found if not isinstance(each, Position)]
    return Page(
        {"table": look.state.properties.name, "consumers": rows, "problems": problems},
        [Listing(CONSUMERS, rows, empty="the table has no consumers" if not problems else "")],
        problems,
    )


def _row(look: Look, found: Position) -> dict[str, Any]:
    """Commits of services count, too: their completion is a position."""
    left = unread(look.state, found.position)
    return {
        "consumer": found.consumer,
        "position": found.position,
        "commits_behind": len(left.commits) if left is not None else 0,
        "seconds_behind": look.age(left.since) if left is not None else 0.0,
        "age": look.age(found.committed_at),
        "committed_by": found.committed_by,
    }

"""The named consumers of a table, and how far they are behind."""

from __future__ import annotations

from typing import Any

from hoodie.changes.consumer_lag import lag
from hoodie.changes.consumer_position import Position, positions
from hoodie.config import select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.times import span
from hudi_services.operations.inspect.page import Column, Listing, Page
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import moment

CONSUMERS = (
    Column("consumer", "consumer"),
    Column("position", "position", lambda position: position or "earliest"),
    Column("commits_behind", "commits behind", right=True),
    Column("seconds_behind", "behind", span, right=True),
    Column("held_until", "held until (UTC)", moment, rank=2),
    Column("passed", "passed", lambda passed: "yes" if passed else "", rank=2),
    Column("age", "committed", lambda age: f"{span(age)} ago", right=True, rank=2),
    Column("committed_by", "by", rank=3),
)
_HOLDING = ("clean", "archive")  # services that keep what consumers have not read


def consumers(look: Look) -> Page:
    """List the consumers. Raises ConfigError for options of the table's services."""
    rows, problems = consumer_rows(look)
    return Page(
        {"table": look.state.properties.name, "consumers": rows, "problems": problems},
        [Listing(CONSUMERS, rows, empty="the table has no consumers" if not problems else "")],
        problems,
    )


def consumer_rows(look: Look) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each consumer, and why positions cannot be read. One listing, and one call for each consumer."""
    result, hours = list(positions(look.storage)), _hours(look)
    rows = [_row(look, consumer, hours) for consumer in result if isinstance(consumer, Position)]
    return rows, [str(consumer) for consumer in result if not isinstance(consumer, Position)]


def _hours(look: Look) -> int:
    """The hours after which the first service keeps nothing for a consumer."""
    consumer_options = (select_keys(look.options(service), (RETENTION_HOURS,)) for service in _HOLDING)
    return min(resolve(consumer, (RETENTION_HOURS,))[RETENTION_HOURS] for consumer in consumer_options)


def _row(look: Look, position: Position, hours: int) -> dict[str, Any]:
    """Commits of services count, too: their completion is a position."""
    behind = lag(look.state, position, hours)
    unread, until = behind.unread, behind.held_until
    return {
        "consumer": position.consumer,
        "position": position.position,
        "commits_behind": len(unread.commits) if unread is not None else 0,
        "seconds_behind": look.age(unread.since) if unread is not None else 0.0,
        "held_until": until.isoformat() if until is not None else None,
        "passed": behind.is_passed(look.now),
        "age": look.age(position.committed_at),
        "committed_by": position.committed_by,
    }

"""The commits of one table, for readers that remember how far they have read. The store may be emptied in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hoodie.timeline import WRITE_ACTIONS, Action
from hudi_services.operations.watch.model import Event
from hudi_services.operations.watch.store import SnapshotStore

_REPORTED = frozenset(map(str, WRITE_ACTIONS | {Action.RESTORE, Action.ROLLBACK}))
"""Actions after which a table may hold other rows."""
_PAGE = 500  # events a statement


@dataclass(frozen=True)
class Reached:
    """The last event of a table that a reader has, and `completed`, the latest completion of all that it has.

    Number 0: there was none yet, and what was completed after `completed` is new.
    """

    number: int
    instant: str
    action: str
    completed: datetime

    def after(self, event: Event) -> Reached:
        """The position with one event more."""
        return Reached(event.number, event.instant, event.action, max(self.completed, event.completed))

    def as_dict(self) -> dict[str, Any]:
        """The position as JSON has it."""
        return {
            "number": self.number,
            "instant": self.instant,
            "action": self.action,
            "completed": self.completed.isoformat(),
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Reached:
        """Parse what `as_dict` made. Raises KeyError or ValueError for anything else."""
        completed = datetime.fromisoformat(values["completed"])
        return cls(int(values["number"]), str(values["instant"]), str(values["action"]), completed)


def from_now_on(store: SnapshotStore, table: str, now: datetime) -> Reached:
    """The position after all that the store has of a table; `now` where it has nothing. Raises StoreError."""
    reached = Reached(0, "", "", datetime.min.replace(tzinfo=UTC))
    for event in _all(store, table, 0):
        reached = reached.after(event)
    return reached if reached.number else Reached(0, "", "", now)


def commits_after(store: SnapshotStore, table: str, reached: Reached) -> Iterator[Event]:
    """The commits that are new to a reader at `reached`, in the order in which they were seen. Restores and rollbacks
    are among them, as they take rows away; actions that only rewrite rows (compaction, clustering) are not.

    A store that was emptied numbers its events from the start, and the last event of the reader is not at its place.
    All commits that were completed later than those of the reader are new in that case. Raises StoreError.
    """
    events = _all(store, table, max(reached.number - 1, 0))
    same = reached.number == 0
    if reached.number:
        first = next(events, None)
        same = first is not None and (first.number, first.instant, first.action) == (
            reached.number,
            reached.instant,
            reached.action,
        )
        if not same:
            events = _all(store, table, 0)
    for event in events:
        later = event.completed > reached.completed
        if (later or (same and event.fresh)) and _tells(event):
            yield event


def facts_of(event: Event) -> dict[str, Any]:
    """An event as one object of JSON: what `hudi-services show commits` says of it, its table, and when it was seen."""
    return {"number": event.number, "table": event.table, "seen_at": event.seen_at.isoformat(), **event.facts}


def _tells(event: Event) -> bool:
    # An instant from before the first look at its table has no operation here: it is reported, as it may be any.
    return event.action in _REPORTED and not event.facts.get("moves_rows")


def _all(store: SnapshotStore, table: str, after: int) -> Iterator[Event]:
    while page := store.events(after, table=table, fresh=False, limit=_PAGE):
        yield from page
        after = page[-1].number

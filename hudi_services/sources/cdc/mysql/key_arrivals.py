"""When rows came to tables that are ahead of others of their Hudi table: the log, which is read again for those, says it.

Tables may share keys (`global_keys`), and a row moves from one to another by an insert and a later delete. A table that is behind
repeats inserts of rows which have moved on. So no commit ends before all tables are at one place, unless it is known of each row
that the others got theirs before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.mysql.held_changes import HeldChanges
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.position import LogPosition

MOST_WAITS = 8  # commits of changes that wait together


@dataclass
class KeyArrivals:
    """The changes with which rows came to tables that have them, up to `level`: the place at which none is behind any more.

    The tables have all changes up to `low`. Tables that do not go on may be ahead, too: those are `absent`.
    """

    low: LogPosition | None = None
    level: LogPosition | None = None
    waits: int = 1
    """Commits of changes that wait before the next one is tried."""
    held: HeldChanges = field(default_factory=HeldChanges)
    absent: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    def join(self, name: str, since: LogPosition) -> None:
        """Add a table that has all changes up to `since`."""
        self.low = since if self.low is None else min(self.low, since)
        self.level = since if self.level is None else max(self.level, since)
        self._seen.add(name)

    def compare(self, tables: Mapping[str, StoredPosition], log_end: LogPosition) -> None:
        """Note which other tables of the Hudi table are ahead. A place after `log_end` is one of another log.

        A table that is parked may have a place in the log of another server, or in one that was reset.
        """
        servers = {tables[name].server for name in self._seen if name in tables}
        for name, at in tables.items():
            is_ahead = self.low is not None and self.low < at.place <= log_end
            if is_ahead and name not in self._seen and at.server in servers:
                self.absent.add(name)
                self.level = at.place if self.level is None else max(self.level, at.place)

    @property
    def are_awaited(self) -> bool:
        """Some tables are behind others."""
        return self.low is not None and self.level is not None and self.low < self.level

    def add(self, end: LogPosition, name: str, changes: pa.Table, located_by: Collection[str]) -> None:
        """Hold those of changes of a table with which rows may have come to it. The columns `located_by` say which row one is."""
        if (kept := _coming(changes, located_by)).num_rows:
            self.held.add(end, kept, name)

    def lose(self, name: str) -> None:
        """Note that changes of a table cannot be read."""
        self._seen.discard(name)
        self.absent.add(name)

    def unseen(self, stored: StoredPosition, place: LogPosition) -> frozenset[tuple[str, str]]:
        """Return the tables of a Hudi table to which rows may have come that are not held. A commit ends at `place`."""
        tables = []
        for name, at in stored.tables.items():
            begin = place if name in self._seen else self.low if name in self.absent else None
            if begin is not None and begin < at.place:
                database, _, table = name.partition(".")
                tables.append((database, table))
        return frozenset(tables)

    def reach(self, place: LogPosition) -> None:
        """Note that all changes up to `place` were read."""
        self.low = place if self.low is None else max(self.low, place)

    def committed(self, place: LogPosition) -> None:
        """Forget what is held: the tables have all changes up to `place`."""
        self.reach(place)
        self.waits = 1
        self.held.clear()


def _coming(changes: pa.Table, located_by: Collection[str]) -> pa.Table:
    """Inserts, and updates that may be of another row afterwards: all updates where no columns say it."""
    op = changes["op"].combine_chunks()
    before, after = (changes[image].combine_chunks() for image in (BEFORE, AFTER))
    names = {one.name for one in before.type}
    may_move = pc.equal(op, "u")
    if located_by and names.issuperset(located_by):
        pairs = [(before.field(name), after.field(name)) for name in located_by]
        differs = [pc.fill_null(pc.not_equal(one, other), True) for one, other in pairs]
        may_move = pc.and_(may_move, reduce(pc.or_, differs))
    return changes.filter(pc.or_(pc.equal(op, "i"), may_move))

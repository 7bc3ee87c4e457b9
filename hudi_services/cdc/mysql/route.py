"""The changes of one table of the log, on their way into its Hudi table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.cdc.mysql.binlog.changes import Shape
from hudi_services.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.cdc.mysql.binlog.transactions import Statement
from hudi_services.cdc.mysql.definition import Effect, LoadedTable, effect_on, names_table
from hudi_services.cdc.mysql.held_changes import HeldChanges
from hudi_services.cdc.mysql.log_identity import StoredPosition
from hudi_services.cdc.mysql.position import LogPosition
from hudi_services.cdc.mysql.target import UniqueKey
from hudi_services.cdc.mysql.target_table import TargetTable

_FLAGS: Mapping[Effect, str] = {
    "truncate": "--on-truncate",
    "drop": "--on-drop",
    "rename": "--on-rename",
    "alter": "--on-alter",
}
ROWS, BYTES = 500_000, 256 << 20  # changes in a commit


@dataclass
class LoadResult:
    """Rows of the snapshot, changes of the binlog, commits, and the position after the last commit."""

    rows: int = 0
    changes: int = 0
    commits: int = 0
    position: str = ""
    catching_up: str = ""
    """The place of the log from which on the table is equal to its source, while it is not there. Empty otherwise."""

    def committed(self, position: StoredPosition, *, rows: int = 0, changes: int = 0) -> None:
        """Count a commit."""
        self.rows += rows
        self.changes += changes
        self.commits += 1
        self.position = position.position
        self.catching_up = str(position.snapshot.high) if position.snapshot is not None else ""


Positions = Callable[[str, LogPosition], StoredPosition]
"""Function: source, place in the log -> the position as commits hold it."""


@dataclass
class Route:
    """Changes of `target.table` that were read and not committed yet.

    The table has all up to `since`. Its last commit holds the position `stored`, which may be earlier. `keys` asks the server for
    the keys of the table, None where it has no such table. `is_stale`: all rows have to be read again before changes follow.
    """

    target: TargetTable
    stored: StoredPosition
    since: LogPosition
    keys: Callable[[], tuple[UniqueKey, ...] | None]
    positions: Positions
    result: LoadResult = field(default_factory=LoadResult)
    is_stale: bool = False
    _held: HeldChanges = field(default_factory=HeldChanges)
    _shape: Shape | None = None

    @property
    def held_bytes(self) -> int:
        """How many bytes of changes wait in memory."""
        return self._held.memory

    def is_within(self, position: LogPosition) -> bool:
        """Return True if the last changes that wait are a piece of the transaction that ends at `position`."""
        return self._held.position == position

    def take(self, changes: Changes) -> None:
        """Hold changes. A commit has changes of one shape of the table, and whole transactions."""
        if changes.position <= self.since:
            return  # another table is behind, so the log is read from before
        if not self.is_within(changes.position) and (changes.shape != self._shape or self._is_full()):
            self.commit()
        self._held.add(changes.position, changes.changes)
        self._shape = changes.shape

    def obey(self, statement: Statement) -> None:
        """Commit what precedes a statement about the table, and do what the policy of its kind says.

        Raises SourceError where rows may not be those of the server after it, and the policy is to stop.
        """
        source = self.target.table
        if statement.position <= self.since or not names_table(statement, source.database, source.name):
            return
        self.commit()
        key = self._key()
        by_index = key is not None and not key.is_primary
        schema = self.target.schema
        integers = {field.name.lower(): field.type.bit_width for field in schema if pa.types.is_integer(field.type)}
        table = LoadedTable(
            source.database, source.name, tuple(schema.names), by_index, source.ignore_cascades, integers
        )
        effect = effect_on(statement, table)
        if effect is not None:
            self._apply(effect, statement)

    def _apply(self, effect: Effect, statement: Statement) -> None:
        source = self.target.table
        policy = getattr(source.statements, effect)
        found = f"{statement.text[:200]!r} before {statement.position}. Changes before it are in the table"
        if policy == "stop":
            raise SourceError(
                f"A statement may have changed rows of {source.source} without logging them",
                found=found,
                fix=f"load the table as it is now with --start-fresh, or choose what a load does there by {_FLAGS[effect]} "
                f"(in the registry, the table's source.statements.{effect})",
            )
        if policy == "ignore":
            return
        if effect == "truncate":
            self._empty(statement.position)
        elif self.keys() is not None or (effect != "drop" and source.statements.drop == "apply"):
            self.is_stale = True
        elif effect == "drop":
            self._empty(statement.position)
        else:
            raise SourceUnavailableError(
                f"The rows of {source.source} cannot be read again: the server has no such table now",
                found=found,
                fix="run again when the table is there. Its rows are then read again",
            )

    def _empty(self, place: LogPosition) -> None:
        """Take all rows out of the table in one commit, which holds `place`."""
        position = self._position_at(place)
        self.target.write_no_rows(self.stored, position)
        self.stored = position
        self.result.committed(position)

    def refuse(self, part: Unreadable) -> None:
        """Commit what precedes changes that cannot be read, and raise SourceError."""
        if part.position <= self.since:
            return
        self._held.drop(part.position)
        self.commit()
        raise SourceError(
            f"The changes of {self.target.table.source} before {part.position} cannot be read",
            found=f"{part.reason}. Changes before them are in the table",
            fix=f"run `hudi-services cdc check {self.target.table.server}`, then load again with --start-fresh",
        )

    def commit(self, reached: LogPosition | None = None) -> None:
        """Commit what waits, if anything does. `reached` is a later place up to which the table has no other changes.

        The table is equal to its source from the end of its snapshot on. A commit without changes says so where there are none.
        """
        rows = self._held.rows
        snapshot = self.stored.snapshot
        ends_snapshot = snapshot is not None and reached is not None and reached >= snapshot.high
        if not rows and not ends_snapshot:
            return
        place = max(place for place in (self._held.position, reached) if place is not None)
        position = self._position_at(place)
        if rows:
            self.target.write_parts(self._held.tables(), self._held.schema, self._key(), self.stored, position)
        else:
            self.target.write_position(self.stored, position)
        self._held.clear()
        self.stored = position
        self.result.committed(position, changes=rows)

    def _position_at(self, place: LogPosition) -> StoredPosition:
        """The place as a commit holds it: with the progress of the snapshot, until all changes of its time are there."""
        position, snapshot = self.positions(self.target.table.source, place), self.stored.snapshot
        return replace(position, snapshot=snapshot) if snapshot is not None and place < snapshot.high else position

    def _key(self) -> UniqueKey | None:
        return self.target.key(self.keys())  # asked again each time: the table may be another one by now

    def _is_full(self) -> bool:
        return self._held.rows >= ROWS or self._held.size >= BYTES

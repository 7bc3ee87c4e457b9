"""Committed transactions, as Arrow tables. Small ones are decoded together: one row costs as much as a thousand there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.changes import ChangeCollector, Shape
from hudi_services.sources.cdc.mysql.binlog.event_spool import EventSpool
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.binlog.table_map import table_name
from hudi_services.sources.cdc.mysql.position import LogPosition

_BYTES = 16 << 20  # bytes of a batch: in a smaller one a thousand tables have a few rows each
_PIECE = 16 << 20  # bytes of events of a long transaction that are decoded at once


@dataclass(frozen=True)
class Changes:
    """Changes of one table in a transaction, or a piece of them, or those in several transactions that follow each other.

    `end` is the place after all transactions that were decoded with them: those of other tables come with the same one.
    `changes` has the columns of `ChangeCollector`. A reader that begins at `position` gets what follows the last transaction:
    pieces that were read count when the next part has another position. `seconds` since 1970 are those of the last one.
    """

    position: LogPosition
    seconds: int
    shape: Shape
    changes: pa.Table
    end: LogPosition


@dataclass(frozen=True)
class Unreadable:
    """A transaction has changes of a table that cannot be read, for a reason. `position` is the place after it.

    Pieces of the table's changes in it that came before do not count.
    """

    position: LogPosition
    seconds: int
    database: str
    table: str
    reason: str


@dataclass(frozen=True)
class _Transaction:
    position: LogPosition
    seconds: int
    events: Sequence[Event]


@dataclass
class TransactionBatch:
    """Committed transactions that were not decoded yet.

    `cuts` are places that no batch goes across, and None where each transaction is a batch of its own.
    """

    collector: ChangeCollector
    cuts: frozenset[LogPosition] | None
    _held: list[_Transaction] = field(default_factory=list)
    _bytes: int = 0
    _tables: set[str] = field(default_factory=set)
    """Names of tables in the first `_named` transactions that wait, in lower case."""
    _named: int = 0

    def add(self, position: LogPosition, seconds: int, events: EventSpool) -> Iterator[Changes | Unreadable]:
        """Take a transaction, the place after it and its TABLE_MAP and ROWS events. Yield changes of those that are decoded."""
        alone = self.cuts is None or events.size >= _BYTES
        if alone or self._crosses(position):
            yield from self.flush()
        if alone:
            yield from self._alone(position, seconds, events.taken())
        elif len(events):
            self._bytes += events.size
            self._held.append(_Transaction(position, seconds, tuple(events.taken())))
            if self._bytes >= _BYTES:
                yield from self.flush()

    def _crosses(self, position: LogPosition) -> bool:
        last = self._held[-1].position if self._held else position
        return any(last <= cut < position for cut in self.cuts or ())

    def holds(self, names: Collection[str]) -> bool:
        """Return True if changes of a table wait that has one of these names, in lower case, in any database."""
        for transaction in self._held[self._named :]:
            tables = (table_name(event.body) for event in transaction.events if event.kind is Kind.TABLE_MAP)
            self._tables.update(table.lower() for _, _, table in tables)
        self._named = len(self._held)
        return not self._tables.isdisjoint(names)

    def flush(self) -> Iterator[Changes | Unreadable]:
        """Yield the changes of all transactions, those of each table in order. Changes that cannot be read stop no others."""
        transactions, self._held, self._bytes = self._held, [], 0
        self._tables.clear()
        self._named = 0
        together = self._together(transactions) if len(transactions) > 1 else None
        if together is not None:
            yield from together
            return
        for transaction in transactions:
            yield from self._alone(transaction.position, transaction.seconds, transaction.events)

    def _together(self, transactions: Sequence[_Transaction]) -> list[Changes] | None:
        """The changes of all. None where some cannot be read, and where the columns of a table change between them."""
        last: dict[tuple[str, str], _Transaction] = {}
        try:
            for transaction in transactions:
                for event in transaction.events:
                    name = self.collector.name_of(event)
                    self.collector.add(event)
                    if event.kind is not Kind.TABLE_MAP:
                        last[name] = transaction
            shapes = self.collector.shapes
            if len({(shape.database, shape.table) for shape in shapes}) < len(shapes):
                raise ValueError("the columns of a table changed")
            ends = [last[shape.database, shape.table] for shape in shapes]
            return [
                Changes(end.position, end.seconds, shape, self.collector.take(shape), transactions[-1].position)
                for shape, end in zip(shapes, ends, strict=True)
            ]
        except ValueError:
            self.collector.clear()
            return None

    def _alone(self, position: LogPosition, seconds: int, events: Iterable[Event]) -> Iterator[Changes | Unreadable]:
        """The changes of a transaction. A long one comes in pieces, which all have the position after it."""
        failed: dict[tuple[str, str], str] = {}
        size = 0
        for event in events:
            name = self.collector.name_of(event)
            if name not in failed:
                try:
                    self.collector.add(event)
                except ValueError as error:
                    failed[name] = str(error)
            size += len(event.body)
            if size >= _PIECE:
                yield from self._collected(failed, position, seconds)
                size = 0
        yield from self._collected(failed, position, seconds)
        for (database, table), reason in failed.items():
            yield Unreadable(position, seconds, database, table, reason)

    def _collected(self, failed: dict[tuple[str, str], str], position: LogPosition, seconds: int) -> Iterator[Changes]:
        """Changes that were collected of tables that did not fail. `failed` gets those that fail now."""
        for shape in self.collector.shapes:
            name = (shape.database, shape.table)
            try:
                changes = self.collector.take(shape)
            except ValueError as error:
                failed.setdefault(name, str(error))
                continue
            if name not in failed:
                yield Changes(position, seconds, shape, changes, position)

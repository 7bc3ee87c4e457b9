"""The transactions of MySQL (GTIDs) that the log has before a place, as far as its events were read."""

from __future__ import annotations

from dataclasses import dataclass, field

from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.gtid_set import (
    GtidSet,
    gtid_set,
    logged_transaction,
    previous_transactions,
    tagged_transaction,
)
from hudi_services.sources.cdc.mysql.position import LogPosition

_LISTED = 100_000  # transactions whose places are kept
_PLACES = 1_000


@dataclass
class LogTransactions:
    """A file begins with the transactions of the files before, and each transaction with its number.

    They are known where reading began inside a file from a position that was stored for this place, or from the next file on.
    """

    _places: dict[LogPosition, str] = field(default_factory=dict)
    _begin: LogPosition | None = None
    _before: GtidSet | None = None
    _since: list[tuple[LogPosition, tuple[str, int]]] = field(default_factory=list)

    def know(self, place: LogPosition, transactions: str) -> None:
        """Keep what a stored position says of its place. Empty transactions are not known."""
        if transactions:
            self._places[place] = transactions
        if len(self._places) > _PLACES:
            del self._places[next(iter(self._places))]

    def restart(self) -> None:
        """Forget the events: the log is read from another place."""
        self._begin, self._before, self._since = None, None, []

    def note(self, position: LogPosition, event: Event) -> None:
        """Take the next event and the place after it. Raises ValueError for bytes that are cut off."""
        if event.kind is Kind.ROTATE and self._begin is None:
            known = self._places.get(position, "")
            self._begin, self._before = position, gtid_set(known) if known else None
        elif event.kind is Kind.PREVIOUS_GTIDS:
            self._begin, self._before, self._since = position, previous_transactions(event.body), []
        elif event.kind in (Kind.GTID, Kind.GTID_TAGGED) and self._before is not None:
            read = logged_transaction if event.kind is Kind.GTID else tagged_transaction
            self._since.append((position, read(event.body)))
            if len(self._since) > 2 * _LISTED:
                self._shorten()

    def before(self, place: LogPosition) -> str:
        """Return the transactions before a place between two of them, empty where they are not known."""
        if place in self._places or self._before is None or self._begin is None or place < self._begin:
            return self._places.get(place, "")
        transactions = self._before.copy()
        for position, (server, number) in self._since:
            if position <= place:
                transactions.add(server, number)
        return str(transactions)

    def _shorten(self) -> None:
        assert self._before is not None
        for position, (server, number) in self._since[:_LISTED]:
            self._before.add(server, number)
            self._begin = position
        self._since = self._since[_LISTED:]

"""Places in the log of one server, each with what identifies the log there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from hoodie.errors import SourceError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.binlog.log import file_created, position_after
from hudi_services.sources.cdc.mysql.connection import connected, is_mariadb
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition, has_transactions, identity_with, log_identity
from hudi_services.sources.cdc.mysql.log_transactions import LogTransactions
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.transaction_place import executed_transactions, place_after

if TYPE_CHECKING:
    from pymysql.connections import Connection


@dataclass
class LogPositions:
    """Positions of the log of the server `name`. It remembers when files began, and MySQL's transactions before places."""

    name: str
    server: DatabaseServer
    environ: Mapping[str, str]
    _files: dict[str, int] = field(default_factory=dict)
    _asking: Lock = field(default_factory=Lock)
    _transactions: LogTransactions = field(default_factory=LogTransactions)
    _positions: dict[str, LogPosition] = field(default_factory=dict)

    def noted(self, log: Iterator[tuple[LogPosition, Event]]) -> Iterator[tuple[LogPosition, Event]]:
        """Yield the events, and note when their files began: a second connection that asks would end the one of the events."""
        self._transactions.restart()
        for position, event in log:
            self._transactions.note(position, event)
            if event.kind is Kind.FORMAT_DESCRIPTION:
                self._files[position.file] = event.seconds
            yield position, event

    def created(self, file: str) -> int:
        """Return when a file of the log began, in seconds since 1970.

        Raises SourceError for one that the server no longer has.
        """
        with self._asking:  # a second replica of the same number would end the first
            if file not in self._files:
                with connected(self.name, self.server, self.environ) as connection:
                    self._files[file] = file_created(connection, self.server.server_id, file)
            return self._files[file]

    def stored_position(self, control: Connection[Any], source: str, place: LogPosition) -> StoredPosition:
        """Return the place as a commit of `source` holds it. Raises SourceError where the log no longer has it."""
        identity = log_identity(control, place, self.created)
        if identity is None:
            raise SourceError(
                f"The binlog of {source} no longer has the position {place}",
                fix="keep logs longer: `hudi-services cdc check SERVER` shows how long. Then load again with --start-fresh",
            )
        if has_transactions(identity):
            return StoredPosition(source, str(place), identity)
        transactions = self._transactions.before(place) or executed_transactions(control, place)
        self._transactions.know(place, transactions)
        return StoredPosition(source, str(place), identity_with(identity, transactions))

    def after(self, control: Connection[Any], transactions: str) -> LogPosition:
        """Return the place of the log after transactions that another server had, by its GTIDs.

        Raises SourceError where the server does not have all of them, or no longer those that follow.
        """
        if transactions not in self._positions:
            server_id = self.server.server_id
            if is_mariadb(control):
                with connected(self.name, self.server, self.environ) as connection:
                    self._positions[transactions] = position_after(connection, server_id, transactions)
            else:
                opened = partial(connected, self.name, self.server, self.environ)
                self._positions[transactions] = place_after(control, opened, server_id, transactions)
        self._transactions.know(self._positions[transactions], transactions)
        return self._positions[transactions]

    def know(self, stored: StoredPosition) -> None:
        """Keep the transactions before a stored position, from which the log is read."""
        self._transactions.know(stored.place, stored.transactions)

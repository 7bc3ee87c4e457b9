"""One pass over the log of a server, on one connection, for all tables that are loaded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoodie.errors import HoodieError, SourceError
from hudi_services.sources.cdc.mysql.binlog.decoding import Decoding
from hudi_services.sources.cdc.mysql.binlog.events import Event
from hudi_services.sources.cdc.mysql.binlog.log import collation_charsets, end_of_log, events
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import Part, Statement, transactions
from hudi_services.sources.cdc.mysql.columns import declared_types
from hudi_services.sources.cdc.mysql.connection import connected, is_mariadb
from hudi_services.sources.cdc.mysql.definition import NamedTables, TableName
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.route import Route
from hudi_services.sources.cdc.mysql.target_batch import TargetBatch

if TYPE_CHECKING:
    from pymysql.connections import Connection

_BYTES = 512 << 20  # bytes of changes that wait, for all tables
Park = Callable[[Route, HoodieError], None]
"""Takes a route that cannot go on. It raises where the others must not either."""


@dataclass
class LogReader:
    """Reads the log from `start` to `end` for `routes`, which it takes out where they fail.

    `stale` are those that it took out since all their rows have to be read again.
    """

    positions: LogPositions
    routes: dict[TableName, Route]
    park: Park
    stale: list[Route] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._named = NamedTables(self.routes)
        self._batches = list({id(route.batch): route.batch for route in self.routes.values()}.values())

    def run(self, control: Connection[Any], start: LogPosition, end: LogPosition) -> None:
        """Apply all changes up to `end`. Raises SourceError where the log cannot be read, and what `park` raises."""
        mariadb, charsets = is_mariadb(control), collation_charsets(control)
        for route in self.routes.values():
            route.charsets = charsets
        choices = {name: route.source.choices for name, route in self.routes.items()}
        decoding = Decoding(choices, declared_types(control, sorted(self.routes)))
        cuts = {route.since for route in self.routes.values()}
        log_end = max(end, end_of_log(control))
        cuts.update(batch.compare(log_end) for batch in self._batches)
        with connected(self.positions.name, self.positions.server, self.positions.environ) as connection:
            log = self.positions.noted(events(connection, self.positions.server.server_id, start, wait=False))
            try:
                parts = transactions(
                    _up_to(end, log), charsets, self._is_wanted, mariadb=mariadb, decoding=decoding, cuts=cuts
                )
                for part in parts:
                    self._take(part)
                    if not self.routes:
                        break
            except ValueError as error:
                raise SourceError(
                    f"The changes of {self._tables} after {start} cannot be read",
                    found=str(error),
                    fix=f"run `hudi-services cdc check {self.positions.name}`, then load again with --start-fresh",
                ) from error
        for batch in self._batches:
            if batch.members:
                self._commit(batch, end)

    def _take(self, part: Part) -> None:
        if isinstance(part, Statement):
            for name in self._named.of(part):
                self._hand_to(name, lambda route: route.obey(part))
                if name in self.routes and (route := self.routes[name]).is_stale:
                    self.stale.append(route)
                    self._leave(route)
        elif isinstance(part, Unreadable):
            self._hand_to((part.database, part.table), lambda route: route.refuse(part))
        else:
            self._limit_memory(part.end)
            self._hand_to((part.shape.database, part.shape.table), lambda route: route.take(part))

    def _hand_to(self, name: TableName, step: Callable[[Route], None]) -> None:
        if name in self.routes:  # it may have left since the log named it
            self._try(self.routes[name], step)

    def _limit_memory(self, end: LogPosition) -> None:
        """Commit the largest changes that wait. Those of the transactions up to `end` may not be whole yet."""
        batches = [batch for batch in self._batches if batch.members and not batch.catches_up]
        while sum(batch.memory for batch in batches) >= _BYTES:
            complete = [batch for batch in batches if batch.memory and not batch.is_within(end)]
            if not complete:
                return
            self._commit(max(complete, key=lambda batch: batch.memory))

    def _commit(self, batch: TargetBatch, end: LogPosition | None = None) -> None:
        """Commit what waits. All tables of the batch leave where that fails."""
        try:
            batch.commit(end)
        except HoodieError as error:
            self._park_all(batch, error)

    def _try(self, route: Route, step: Callable[[Route], None]) -> None:
        try:
            step(route)
        except HoodieError as error:
            if route.batch.has_failed:
                self._park_all(route.batch, error)
            else:
                self._leave(route)
                if not route.batch.has_failed:
                    self.park(route, error)

    def _leave(self, route: Route) -> None:
        """Take a route out. The last one of a batch commits the changes that wait, and an error of that counts."""
        del self.routes[route.name]
        route.batch.leave(route)
        if not route.batch.members:
            try:
                route.batch.commit()
            except HoodieError as error:
                route.is_stale = False
                self.stale = [other for other in self.stale if other is not route]
                self.park(route, error)

    def _park_all(self, batch: TargetBatch, error: HoodieError) -> None:
        for route in [route for route in self.routes.values() if route.batch is batch]:
            del self.routes[route.name]
            batch.members.pop(route.source.full_name, None)
            self.park(route, error)

    def _is_wanted(self, database: str, table: str) -> bool:
        return (database, table) in self.routes

    @property
    def _tables(self) -> str:
        names = [route.source.source for route in self.routes.values()]
        return names[0] if len(names) == 1 else f"{len(names)} tables of {self.positions.name}"


def _up_to(end: LogPosition, log: Iterator[tuple[LogPosition, Event]]) -> Iterator[tuple[LogPosition, Event]]:
    """The events that end at `end` or before."""
    for position, event in log:
        if position > end:
            return
        yield position, event
        if position == end:
            return

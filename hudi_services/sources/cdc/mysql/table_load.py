"""A table of a server into a Hudi table: all its rows once, then the changes that its binlog has since."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoodie.clock import SystemClock
from hoodie.errors import HoodieError
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.failover import located
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.log_reader import LogReader
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.route import Route
from hudi_services.sources.cdc.mysql.session_pool import SessionPool
from hudi_services.sources.cdc.mysql.sessions import Session
from hudi_services.sources.cdc.mysql.snapshot_load import SnapshotLoad
from hudi_services.sources.cdc.mysql.source_check import check_server, check_table
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import keys_now
from hudi_services.sources.cdc.mysql.target_batch import TargetBatch, TargetCommits
from hudi_services.sources.cdc.mysql.target_table import TargetTable

if TYPE_CHECKING:
    from pymysql.connections import Connection

_log = logging.getLogger(__name__)
SESSIONS = 4  # that read rows at once


@dataclass
class TableLoad:
    """The load of `target.table` from the server `server` of the registry."""

    server: DatabaseServer
    environ: Mapping[str, str]
    target: TargetTable
    result: LoadResult = field(default_factory=LoadResult)
    sessions: int = SESSIONS
    report: Callable[[str], None] = _log.info

    def __post_init__(self) -> None:
        self._positions = LogPositions(self.target.table.server, self.server, self.environ)

    def run(self, *, start_fresh: bool = False, until: LogPosition | None = None) -> LoadResult:
        """Load up to `until`, by default the end of the log as it is when the run begins.

        Each commit holds the rows and the position after them, so a run that is killed goes on where it was. `start_fresh` takes
        all rows again, in place of those in the table, and so does a run where a policy says it: they may be of a later time than
        `until`. A snapshot of many rows is read by `sessions`, and `report` gets lines about it. No more than one connection is
        open in addition to them. Raises HoodieError. Commits before the error stay.
        """
        source = self.target.table
        with closing(Session(self._connected)) as control:
            facts = server_facts(control.opened(), (source.database,), SystemClock(), source.name)
            check_server(source.server, self.server, self.environ, facts)
            check_table(facts, source)
            end = end_of_log(control.opened()) if until is None else until
            stored = self.target.stored_position()
            if stored is None or stored.is_loading or start_fresh:
                stored = self._snapshot(control, stored, start_fresh=start_fresh)
            while (stale := self._apply(control.opened(), stored, _end(stored, end, until))) is not None:
                stored = self._snapshot(control, stale.batch.commits.stored, start_fresh=True)
        return self.result

    def _snapshot(self, control: Session, stored: StoredPosition | None, *, start_fresh: bool) -> StoredPosition:
        control.close()  # the one that asks when a file of the log began takes its place
        with closing(SessionPool(self._connected, self.sessions)) as sessions:
            load = SnapshotLoad(sessions, self._positions, self.target, self.result, self.report)
            return load.run(stored, start_fresh=start_fresh)

    def _connected(self) -> AbstractContextManager[Connection[Any]]:
        return connected(self.target.table.server, self.server, self.environ)

    def _apply(self, control: Connection[Any], stored: StoredPosition, end: LogPosition) -> Route | None:
        """Apply changes after `stored`. Return the route if all rows have to be read again before others follow."""
        source = self.target.table
        since = located(control, stored, self._positions).place
        commits = TargetCommits(self.target, stored)
        route = route_of(control, self._positions, commits, source, since, self.result)
        reader = LogReader(self._positions, {(source.database, source.name): route}, _stop)
        reader.run(control, since, end)
        return route if reader.stale else None


def _end(stored: StoredPosition, end: LogPosition, until: LogPosition | None) -> LogPosition:
    """The place up to which changes are applied: the table is equal to its source from the end of its snapshot on."""
    return max(end, stored.snapshot.high) if stored.snapshot is not None and until is None else end


def route_of(
    control: Connection[Any],
    positions: LogPositions,
    commits: TargetCommits,
    source: TableSource,
    since: LogPosition,
    result: LoadResult,
    batch: TargetBatch | None = None,
) -> Route:
    """Return the way of a table's changes after `since` into a batch of its Hudi table, by default one of its own."""
    own = TargetBatch(commits, lambda name, place: positions.stored_position(control, name, place))
    return Route(source, batch or own, since, lambda: keys_now(control, source.database, source.name), result)


def _stop(route: Route, error: HoodieError) -> None:
    raise error

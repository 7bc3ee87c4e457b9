"""A table of a server into a Hudi table: all its rows once, then the changes that its binlog has since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoodie.errors import HoodieError
from hudi_services.cdc.mysql.binlog.log import end_of_log
from hudi_services.cdc.mysql.connection import connected
from hudi_services.cdc.mysql.log_identity import StoredPosition, check_log
from hudi_services.cdc.mysql.log_positions import LogPositions
from hudi_services.cdc.mysql.log_reader import LogReader
from hudi_services.cdc.mysql.position import LogPosition
from hudi_services.cdc.mysql.route import LoadResult, Route
from hudi_services.cdc.mysql.snapshot import snapshot
from hudi_services.cdc.mysql.source_check import check_source
from hudi_services.cdc.mysql.target import unique_keys
from hudi_services.cdc.mysql.target_table import TargetTable
from hudi_services.entry.server import DatabaseServer

if TYPE_CHECKING:
    from pymysql.connections import Connection


@dataclass
class TableLoad:
    """The load of `target.source` from the server `server` of the registry."""

    server: DatabaseServer
    environ: Mapping[str, str]
    target: TargetTable
    result: LoadResult = field(default_factory=LoadResult)

    def __post_init__(self) -> None:
        self._log = LogPositions(self.target.source.server, self.server, self.environ)

    def run(self, *, start_fresh: bool = False, until: LogPosition | None = None) -> LoadResult:
        """Load up to `until`, by default the end of the log as it is when the run begins.

        Each commit holds the rows and the position after them, so a run that is killed goes on where it was. `start_fresh` takes
        all rows again, in place of those in the table. Raises HoodieError. Commits before the error stay.
        """
        source = self.target.source
        with connected(source.server, self.server, self.environ) as control:
            check_source(control, self.server, self.environ, source)
            end = end_of_log(control) if until is None else until
            stored = self.target.stored_position()
            if stored is None or start_fresh:
                stored = self._load_all(control, stored)
            check_log(control, stored, self._log.created)
            self._apply(control, stored, end)
        return self.result

    def _load_all(self, control: Connection[Any], stored: StoredPosition | None) -> StoredPosition:
        """Write a snapshot in one commit, in place of what the table holds."""
        source = self.target.source
        with snapshot(source.server, self.server, self.environ, source.database, source.name) as rows:
            self.target.opened_for(rows)
            key = self.target.key(unique_keys(control, source.database, source.name))
            position = self._log.stored_position(control, source.source, rows.position)
            count = self.target.write_rows(rows, key, stored, position)
        self.result.committed(position, rows=count)
        return position

    def _apply(self, control: Connection[Any], stored: StoredPosition, end: LogPosition) -> None:
        source = self.target.source
        key = self.target.key(unique_keys(control, source.database, source.name))
        route = Route(
            self.target,
            stored,
            key,
            lambda name, place: self._log.stored_position(control, name, place),
            self.result,
        )
        LogReader(self._log, {(source.database, source.name): route}, _stop).run(control, stored.place, end)


def _stop(route: Route, error: HoodieError) -> None:
    raise error

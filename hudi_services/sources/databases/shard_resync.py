"""Tables of one Hudi table against the server as it is now, whose rows and places are corrected in one commit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, HoodieError, PendingInstantError
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.shard_comparison import ShardComparison, reason_of
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.snapshot_place import begin_placed_snapshot
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress
from hudi_services.sources.cdc.mysql.source_check import check_server, check_table
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.shard_verification import merged_target

if TYPE_CHECKING:
    from pymysql.connections import Connection

_PAUSES = (0, 1, 2, 4, 8, 16)  # seconds until the next try where another load was faster


@dataclass(frozen=True)
class ShardResync:
    """Tables of `sync` that go into one Hudi table: those that `only` names, and all of them where they share keys.

    A row of a shared key may be that of another table, so all tables have to be read at one place. `limit` and `values` are those
    of `ShardVerification`.
    """

    sync: PlannedSync
    only: frozenset[str]
    limit: int = 20
    values: bool = False

    def run(self) -> EqualityReport:
        """Compare tables as they are now, and write what differs in one commit, which holds the place of that moment for them.

        The log since their places is not read, so this also repairs tables whose load cannot go on. The others keep their rows
        and places. Raises ConfigError for tables that are not of one Hudi table, and for one without rows, SourceError for tables
        that have rows of one shared key, and PendingInstantError where others commit during each of several tries.
        """
        target = merged_target(self.sync, self.only)
        sources = [source for source in target.source.tables if target.shares_keys or source.full_name in self.only]
        failure: PendingInstantError | None = None
        for pause in _PAUSES:
            time.sleep(pause if failure is not None else 0)
            try:
                return self._written(target, sources)
            except PendingInstantError as error:
                failure = error
        assert failure is not None, "a try returns or fails"
        raise failure

    def _written(self, target: TargetTable, sources: list[TableSource]) -> EqualityReport:
        planner = self.sync.planner
        state = target.stored()
        if state is None:
            raise ConfigError(
                f"The table {target.base_path} has no rows to compare",
                fix=f"load it: `hudi-services cdc sync {planner.name}`",
            )
        with connected(planner.name, planner.server, planner.environ) as connection:
            place = begin_placed_snapshot(connection)
            high = place.position if place.is_exact else end_of_log(connection)
            with connected(planner.name, planner.server, planner.environ) as control:
                left = dict(self._left(control, state[1].tables, sources))
                positions = LogPositions(planner.name, planner.server, planner.environ)
                at = positions.stored_position(control, target.source.source, place.position)
            progress = SnapshotProgress(high) if high > place.position else None
            reached = StoredPosition(at.source, at.position, at.log, progress)
            comparison = ShardComparison(
                target, *state, connection, at, left, limit=self.limit, values=self.values, reached=reached
            )
            compared = tuple(source for source in sources if source.full_name not in left)
            return comparison.run(compared, repair=True)

    def _left(
        self, control: Connection[Any], places: Mapping[str, StoredPosition], sources: list[TableSource]
    ) -> dict[str, str]:
        """The tables that cannot be compared, and why. Raises ConfigError for a server whose log lacks changes."""
        planner = self.sync.planner
        databases = tuple(dict.fromkeys(source.database for source in sources))
        facts = server_facts(control, databases, SystemClock())
        check_server(planner.name, planner.server, planner.environ, facts)
        left = {}
        for source in sources:
            try:
                check_table(facts, source)
                if source.full_name not in places:
                    left[source.full_name] = "it is not loaded yet"
            except HoodieError as error:
                left[source.full_name] = reason_of(error)
        return left

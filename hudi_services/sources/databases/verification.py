"""All tables of a server against the lake, at one cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, HoodieError, PendingInstantError
from hoodie.view import TableState
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.mysql.columns import declared_table
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.server_sync import ServerMoment, server_time
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.snapshot_place import QUIET_TRIES, begin_placed_snapshot
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.table_verifications import (
    TableVerification,
    VerificationStore,
    VerifiedTables,
    left_out,
)

if TYPE_CHECKING:
    from pymysql.connections import Connection

_AT_ONCE = 16  # tables whose state is opened


@dataclass(frozen=True)
class ServerVerification:
    """Compares tables of `sync` with their server: those that `only` names, all without any.

    New comparisons begin for `seconds`, those of the oldest proofs first.
    """

    sync: PlannedSync
    seconds: float
    only: frozenset[str] = frozenset()
    monotonic: Callable[[], float] = field(default=time.monotonic)

    def run(self) -> tuple[TableVerification, ...]:
        """Bring the tables to the place of a transaction of the server, store a cut there, and compare each table in it.

        Return a result of each table: those that cannot be compared say why, and the others go on. Raises ConfigError for a
        MySQL that is never quiet or has no GTIDs, PendingInstantError where tables went past that place,
        and what a run of `sync` raises.
        """
        began = self.monotonic()
        planner, store = self.sync.planner, VerificationStore(self.sync.cuts.storage, self.sync.planner.name)
        self.sync.run()  # so that new tables have rows, and little is left to apply while the transaction is open
        with connected(planner.name, planner.server, planner.environ) as connection:
            now = server_time(connection)
            place = begin_placed_snapshot(connection, tries=QUIET_TRIES)
            position = place.position
            if not place.is_exact:
                raise ConfigError(
                    f"The tables of the server {planner.name} cannot be verified",
                    found="a MySQL without GTIDs, or one that commits all the time",
                    fix="set gtid_mode=ON, or run again when the server is quiet. Otherwise compare all rows of a table: "
                    f"`hudi-services cdc resync --table {planner.name}.DATABASE.TABLE`",
                )
            result = self.sync.run(until=ServerMoment(position, now))
            cut = self.sync.cuts.latest()
            if result.position != str(position) or cut is None or cut.number != result.cut:
                raise PendingInstantError(
                    f"The tables of {planner.name} went past the moment of the comparison",
                    found=f"cut {result.cut} at {result.position}, and a transaction at {position}",
                    fix="run again",
                )
            comparison = _Comparison(self.sync, connection, position, cut, store.latest(), self.only)
            results = tuple(comparison.results(lambda: self.monotonic() - began > self.seconds))
        store.put(store.latest().followed_by(results))
        return results


@dataclass(frozen=True)
class _Comparison:
    """The tables of `sync` at a cut, whose place is that of the transaction on `connection`."""

    sync: PlannedSync
    connection: Connection[Any]
    position: LogPosition
    cut: Cut
    before: VerifiedTables
    only: frozenset[str]

    def results(self, is_over: Callable[[], bool]) -> Iterator[TableVerification]:
        targets = self.sync.targets_of(self.sync.current())
        at_cut: list[TargetTable] = []
        others: list[TargetTable] = []
        for target in self._chosen(targets):
            names = [table.full_name for table in target.source.tables]
            is_at_cut = not target.is_merged and names[0] in self.cut.tables
            (at_cut if is_at_cut else others).append(target)
        for target in others:
            for table in target.source.tables:
                yield left_out(table.full_name, self.cut, self._reason(target, table.full_name))
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # other loads may go on: each table is compared as it is at the cut
            states = list(pool.map(self._state, at_cut))
        by_age = sorted(zip(at_cut, states, strict=True), key=lambda pair: self._verified_at(pair[0].table.full_name))
        for target, state in by_age:
            name = target.table.full_name
            if is_over():
                yield left_out(name, self.cut, "the time was over: the next run begins with it")
            elif isinstance(state, str):
                yield left_out(name, self.cut, state)
            else:
                yield self._compared(target, *state)

    def _chosen(self, targets: Sequence[TargetTable]) -> list[TargetTable]:
        """The targets of `only`. Raises ConfigError for a name that nothing loads."""
        names = {table.full_name for target in targets for table in target.source.tables}
        if unknown := sorted(self.only - names):
            raise ConfigError(
                f"Nothing loads a table {unknown[0]!r:.200} from {self.sync.planner.name}",
                fix="name tables of the page of the server",
            )
        return [
            target for target in targets if not self.only or any(t.full_name in self.only for t in target.source.tables)
        ]

    def _reason(self, target: TargetTable, name: str) -> str:
        if target.is_merged:
            return "rows of several tables are in one Hudi table"
        behind = self.cut.behind.get(name)
        return f"it is behind: {behind.reason}" if behind is not None else "it is not loaded yet"

    def _verified_at(self, name: str) -> str:
        earlier = self.before.tables.get(name)
        return earlier.verified_at if earlier is not None else ""

    def _state(self, target: TargetTable) -> tuple[TableState, StoredPosition] | str:
        """The state of a Hudi table at the cut, or the reason for which there is none."""
        try:
            stored = target.stored()
        except HoodieError as error:
            return str(error)
        if stored is None or stored[1].position != self.cut.tables[target.table.full_name].stored:
            return "another load went on before it was compared"
        return stored

    def _compared(self, target: TargetTable, state: TableState, stored: StoredPosition) -> TableVerification:
        source, planner = target.table, self.sync.planner
        try:
            declared = declared_table(self.connection, source.database, source.name, source.choices)
            rows = Snapshot(declared, self.position, True, self.connection)
            check = EqualityCheck(TableLoad(planner.server, planner.environ, target), limit=0)
            report = check.compare(rows, state, stored)
        except HoodieError as error:
            return left_out(source.full_name, self.cut, f"{error.what}: {error.found}" if error.found else error.what)
        now = SystemClock().now().isoformat()
        return TableVerification(
            source.full_name,
            "equal" if report.is_equal else "differs",
            self.cut.number,
            self.cut.position,
            now,
            report.rows,
            report.differing,
            _masked(report) if report.is_equal else "",
        )


def _masked(report: EqualityReport) -> str:
    columns = ", ".join(f"{name} ({mask})" for name, mask in report.masked.items())
    return f"after masks: {columns}" if columns else ""

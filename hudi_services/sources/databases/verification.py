"""All tables of a server against the lake, at one cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, HoodieError
from hoodie.view import TableState
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.cdc.mysql.columns import declared_table
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.shard_comparison import TIME_IS_OVER, reason_of
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.databases.cut_moment import CutMoment, behind_reason, cut_moment
from hudi_services.sources.databases.plan_sync import PlannedSync
from hudi_services.sources.databases.shard_verification import compare_shards
from hudi_services.sources.databases.table_verifications import (
    TableVerification,
    VerificationStore,
    VerifiedTables,
    left_out,
)

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
        store = VerificationStore(self.sync.cuts.storage, self.sync.planner.name)
        with cut_moment(self.sync) as moment:
            comparison = _Comparison(self.sync, moment, store.latest(), self.only)
            results = tuple(comparison.results(lambda: self.monotonic() - began > self.seconds))
        store.put(store.latest().followed_by(results))
        return results


@dataclass(frozen=True)
class _Comparison:
    """The tables of `sync` at the cut of a moment."""

    sync: PlannedSync
    moment: CutMoment
    before: VerifiedTables
    only: frozenset[str]

    @property
    def cut(self) -> Cut:
        return self.moment.cut

    def results(self, is_over: Callable[[], bool]) -> Iterator[TableVerification]:
        at_cut: list[TargetTable] = []
        for target in self._chosen(self.sync.targets_of(self.sync.current())):
            if target.is_merged or target.table.full_name in self.cut.tables:
                at_cut.append(target)
            else:
                name = target.table.full_name
                yield left_out(name, self.cut, behind_reason(self.cut, name))
        with ThreadPoolExecutor(_AT_ONCE) as pool:  # other loads may go on: each table is compared as it is at the cut
            states = list(pool.map(self._state, at_cut))
        for target, state in sorted(zip(at_cut, states, strict=True), key=lambda pair: self._age(pair[0])):
            if target.is_merged:
                yield from self._merged(target, is_over)
                continue
            name = target.table.full_name
            if is_over():
                yield left_out(name, self.cut, TIME_IS_OVER)
            elif isinstance(state, str):
                yield left_out(name, self.cut, state)
            else:
                yield self._compared(target, *state)

    def _merged(self, target: TargetTable, is_over: Callable[[], bool]) -> Iterator[TableVerification]:
        """The tables of one Hudi table, each with a result of its own."""
        sources = [source for source in target.source.tables if not self.only or source.full_name in self.only]
        sources.sort(key=lambda source: self._verified_at(source.full_name))
        if is_over():
            yield from (left_out(source.full_name, self.cut, TIME_IS_OVER) for source in sources)
            return
        try:
            report = compare_shards(target, self.moment, sources, is_over=is_over)
        except HoodieError as error:
            yield from (left_out(source.full_name, self.cut, reason_of(error)) for source in sources)
            return
        masked = _masked(report)
        for name, counts in report.tables.items():
            note = "; ".join(text for text in (masked, counts.note) if text)
            yield self._result(name, counts.rows, counts.differing, note)
        for name, count in report.others.items():
            yield self._result(name, 0, count, f"rows in {target.base_path} of a table that was never loaded")
        for name, count in report.removed.items():
            yield left_out(name, self.cut, f"{count:,} rows of it are in the lake, and nothing loads it any more")
        for name, reason in report.left.items():
            yield left_out(name, self.cut, reason)

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

    def _age(self, target: TargetTable) -> str:
        return min((self._verified_at(source.full_name) for source in target.source.tables), default="")

    def _verified_at(self, name: str) -> str:
        earlier = self.before.tables.get(name)
        return earlier.verified_at if earlier is not None else ""

    def _state(self, target: TargetTable) -> tuple[TableState, StoredPosition] | str:
        """The state of a Hudi table at the cut, or the reason for which there is none."""
        if target.is_merged:
            return ""  # its tables may be at several places
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
            declared = declared_table(self.moment.connection, source.database, source.name, source.choices)
            rows = Snapshot(declared, self.moment.position, True, self.moment.connection)
            check = EqualityCheck(TableLoad(planner.server, planner.environ, target), limit=0)
            report = check.compare(rows, state, stored)
        except HoodieError as error:
            return left_out(source.full_name, self.cut, reason_of(error))
        return self._result(source.full_name, report.rows, report.differing, _masked(report))

    def _result(self, name: str, rows: int, differing: int, note: str) -> TableVerification:
        """A table that was compared. `note` is what was compared in another way, or not at all."""
        now = SystemClock().now().isoformat()
        state: Literal["equal", "differs"] = "differs" if differing else "equal"
        return TableVerification(name, state, self.cut.number, self.cut.position, now, rows, differing, note)


def _masked(report: EqualityReport) -> str:
    columns = ", ".join(f"{name} ({mask})" for name, mask in report.masked.items())
    return f"after masks: {columns}" if columns else ""

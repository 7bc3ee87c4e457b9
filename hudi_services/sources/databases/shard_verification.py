"""The tables of one Hudi table against it, at a cut, and the repair of what differs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hoodie.errors import ConfigError, PendingInstantError
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport
from hudi_services.sources.cdc.mysql.equality.shard_comparison import ShardComparison
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.databases.cut_moment import CutMoment, behind_reason, cut_moment
from hudi_services.sources.databases.plan_sync import PlannedSync

_PAUSES = (0, 1, 2, 4, 8)  # seconds until a repair tries again where another load was faster


@dataclass(frozen=True)
class ShardVerification:
    """Compares tables of `sync` that go into one Hudi table: those that `only` names by their names at the server.

    `limit` keys that differ are listed, with their `values` only where they are asked for.
    """

    sync: PlannedSync
    only: frozenset[str]
    limit: int = 20
    values: bool = False

    def verify(self, *, repair: bool = False) -> EqualityReport:
        """Bring all tables of the server to one cut, and compare these there. With `repair` write what differs, in one commit.

        The commit keeps the position of the Hudi table. Raises ConfigError for tables that are not of one Hudi table, and
        PendingInstantError where others commit during each of several tries, each of which compares again.
        """
        failure: PendingInstantError | None = None
        for pause in _PAUSES:
            time.sleep(pause if failure is not None else 0)
            try:
                with cut_moment(self.sync) as moment:
                    target = merged_target(self.sync, self.only)
                    sources = [source for source in target.source.tables if source.full_name in self.only]
                    return compare_shards(target, moment, sources, limit=self.limit, values=self.values, repair=repair)
            except PendingInstantError as error:
                failure = error
        assert failure is not None, "a try returns or fails"
        raise failure


def merged_target(sync: PlannedSync, only: frozenset[str]) -> TargetTable:
    """Return the Hudi table that tables of a server go into. Raises ConfigError where there is none that has all of them."""
    for target in sync.targets_of(sync.current()):
        names = {source.full_name for source in target.source.tables}
        if target.is_merged and only <= names:
            return target
    raise ConfigError(
        f"No Hudi table has the rows of {', '.join(sorted(only)):.200}",
        fix=f"name a table of `hudi-services cdc plan {sync.planner.name}`",
    )


def compare_shards(
    target: TargetTable,
    moment: CutMoment,
    sources: Sequence[TableSource],
    *,
    is_over: Callable[[], bool] = lambda: False,
    limit: int = 0,
    values: bool = False,
    repair: bool = False,
) -> EqualityReport:
    """Compare tables of a Hudi table as they are at the cut of a moment, the first ones first. None begins once time `is_over`.

    Tables that are not at the cut are left out, with the reason. Raises what `ShardComparison.run` raises.
    """
    state = target.stored()
    if state is None:
        left = {source.full_name: behind_reason(moment.cut, source.full_name) for source in sources}
        return EqualityReport(target.source.source, moment.cut.position, "", left=left)
    reasons = {source.full_name: _reason(moment, state[1], source.full_name) for source in sources}
    left = {name: reason for name, reason in reasons.items() if reason}
    at = moment.at(target.source.source)
    comparison = ShardComparison(target, *state, moment.connection, at, left, is_over, limit, values)
    return comparison.run(tuple(source for source in sources if source.full_name not in left), repair=repair)


def _reason(moment: CutMoment, stored: StoredPosition, name: str) -> str:
    """Return why a table is not compared, empty if it is."""
    place, now = moment.cut.tables.get(name), stored.tables.get(name)
    if place is None:
        return behind_reason(moment.cut, name)
    if now is None or now.position != place.stored:
        return "another load went on before it was compared"
    return "its snapshot has rows of several moments" if now.snapshot is not None else ""

"""A run that brings all tables of a server up to date: those with entries of their own, and those that rules take."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hoodie.clock import SystemClock
from hoodie.display import some
from hoodie.errors import ConfigError, HoodieError, TablePausedError
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.runtime.pause import pause_errors
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.masks import Mask, source_masks
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.server_sync import ServerMoment, ServerSync, SyncResult, TableResult
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import MergedSource, TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable, load_engine
from hudi_services.sources.cdc.progress_report import ProgressReport
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.cdc.sync_progress import ProgressStore
from hudi_services.sources.databases.column_checks import kept_columns
from hudi_services.sources.databases.expressions import added_columns
from hudi_services.sources.databases.plan import Refusal, Route
from hudi_services.sources.databases.plan_store import PlanStore
from hudi_services.sources.databases.planner import CurrentPlan, Planner
from hudi_services.sources.databases.requests import RequestStore


@dataclass(frozen=True)
class PlannedSync:
    """Runs for the tables `targets`, and for those that `rules` take at the time of each run.

    `refused` are tables whose entries have mistakes: neither an entry nor a rule loads them.
    """

    planner: Planner
    rules: tuple[DatabaseRule, ...]
    targets: Sequence[TargetTable]
    cuts: CutStore
    plans: PlanStore
    refused: tuple[Refusal, ...] = ()

    def current(self, *, accept: bool = False, preflight: bool = False) -> CurrentPlan | None:
        """Return the plan of the rules as it is now, None where there never was a rule.

        `accept` lets tables have other paths than before, or none. `preflight` asks what a run would ask, too: rights, the form
        of the log and how long it is kept.
        """
        stored = self.plans.latest()
        if not self.rules and not stored.paths:
            return None
        current = self.planner.current(self.rules, stored, accept=accept)
        return replace(current, preflight=self.planner.preflight(current.plan)) if preflight else current

    def targets_of(self, current: CurrentPlan | None) -> list[TargetTable]:
        """Return the Hudi tables with entries of their own, and those of a plan."""
        return [*self.targets, *(map(self._target, current.plan.routes) if current is not None else ())]

    def run(
        self,
        *,
        resume: Collection[str] = (),
        start_fresh: bool = False,
        skip: Collection[str] = (),
        until: ServerMoment | None = None,
    ) -> SyncResult:
        """Plan, store the plan, and bring the tables to the end of the log, as `ServerSync` says.

        Parked tables that users asked to resume are tried again, as those in `resume`, of which `start_fresh` reads all rows.
        Those that users asked to skip are left out, as those in `skip`, by later runs, too. Those of paused Hudi tables are left
        out until the pause ends, and requests for them stay. The cut is at `until`, if that is given. Tables that the plan
        refuses are results, too. Raises ConfigError where no table is left, and for a name in `resume` or `skip` that nothing
        loads.
        """
        current, name = self.current(), self.planner.name
        refusals = (*self.refused, *(current.plan.refusals if current is not None else ()))
        targets = self.targets_of(current)
        known = {table.full_name for target in targets for table in target.source.tables}
        if unknown := sorted({*resume, *skip} - known):
            raise ConfigError(
                f"The registry loads no table {unknown[0]!r} from {name}",
                fix=f"name one of {', '.join(sorted(known)[:10])}",
            )
        if current is not None:
            current.store(self.plans)
        if not targets:
            raise _nothing(name, self.rules, refusals)
        clock, planner = SystemClock(), self.planner
        report = ProgressReport(ProgressStore(self.cuts.storage, name), clock)
        sync = ServerSync(name, planner.server, planner.environ, targets, self.cuts, clock, report)
        requests = RequestStore(self.cuts.storage, name)
        if resume:
            requests.resume(frozenset(resume), fresh=start_fresh)
        if skip:
            requests.skip(frozenset(skip))
        request = requests.latest()
        held_back = _held_back(targets)
        left_out = {**held_back, **{source: _left_out(name, source) for source in request.skipped}}
        result = sync.run(resume=request.resumed, fresh=request.fresh, skip=left_out, until=until)
        requests.done({source: number for source, number in request.resumed.items() if source not in held_back})
        refused = {
            refusal.source: TableResult("refused", LoadResult(), refusal.reason, refusal.fix) for refusal in refusals
        }
        paused = {source for source, error in held_back.items() if isinstance(error, TablePausedError)}
        skipped = {
            source: TableResult("skipped", LoadResult()) for source in (request.skipped | paused) & result.tables.keys()
        }
        return replace(result, tables={**result.tables, **refused, **skipped})

    @property
    def all_rules(self) -> tuple[DatabaseRule, ...]:
        """The rules of the plan of the last run and `rules`: of one base path those of `rules`."""
        return tuple({rule.base_path: rule for rule in (*self.plans.latest().rules, *self.rules)}.values())

    def load(self, source: str) -> TableLoad:
        """Return the load of one table by its name at the server. It asks the server for a table of a rule.

        Raises ConfigError for a table that is not loaded, and for one that goes into a Hudi table with others.
        """
        return TableLoad(self.planner.server, self.planner.environ, self.target(source))

    def target(self, source: str) -> TargetTable:
        """Return the Hudi table of a table by its name at the server, which is asked for a table of a rule.

        Raises ConfigError for a table that is not loaded.
        """
        for target in self.targets:
            if source in (table.full_name for table in target.source.tables):
                return target
        current = self.current()
        for refusal in (*self.refused, *(current.plan.refusals if current is not None else ())):
            if refusal.source == source:
                raise ConfigError(f"The table {source} is refused", found=refusal.reason, fix=refusal.fix)
        for route in current.plan.routes if current is not None else ():
            if source in (table.full_name for table in route.sources):
                return self._target(route)
        known = [table.full_name for target in self.targets for table in target.source.tables]
        known += list(current.plan.paths) if current is not None else []
        raise ConfigError(
            f"No rule and no entry loads a table {source!r} from {self.planner.name}",
            found=some(difflib.get_close_matches(source, known) or sorted(known)) or "no table that is loaded",
            fix="correct the name, or write a rule that takes it",
        )

    def _target(self, route: Route) -> TargetTable:
        rule = route.rule
        columns: Mapping[str, Mask] = {column.lower(): mask for column, mask in rule.masks.items()}
        masks = source_masks(
            f"The rule {rule.shown}",
            columns,
            rule.server,
            self.planner.server.hash_key,
            self.planner.environ,
            kept_columns(rule),
        )
        sources = tuple(
            TableSource(rule.server, source.database, source.name, rule.ignore_cascades, route.choices, rule.statements)
            for source in route.sources
        )
        return TargetTable(
            MergedSource(rule.server, sources, rule.global_keys) if rule.merge else sources[0],
            route.base_path,
            route.write_options,
            load_engine(),
            replace(masks, of_many=True),
            added_columns(rule),
            RowFilter(rule.where),
        )


def _held_back(targets: Sequence[TargetTable]) -> dict[str, HoodieError]:
    """The reason for each table at the server whose Hudi table is paused now, or may be."""
    errors = pause_errors((target.base_path for target in targets), "cdc sync")
    return {
        source.full_name: errors[target.base_path]
        for target in targets
        if target.base_path in errors
        for source in target.source.tables
    }


def _nothing(name: str, rules: Sequence[DatabaseRule], refusals: Sequence[Refusal]) -> ConfigError:
    if refusals:
        first = refusals[0]
        return ConfigError(
            f"No table of the server {name} can be loaded",
            found=f"{first.source}: {first.reason}; {len(refusals):,} tables are refused",
            fix=first.fix,
        )
    if rules:
        return ConfigError(
            f"No table of the server {name} matches a rule",
            found="; ".join(rule.shown for rule in rules[:5]),
            fix=f"correct the regular expressions. `hudi-services cdc check {name}` lists what the user may read",
        )
    return ConfigError(
        f"The registry has no table that is loaded from the server {name!r}",
        fix=f"give a table `source: {{server: {name}, table: DATABASE.TABLE}}`, or write a rule below `databases`",
    )


def _left_out(server: str, source: str) -> ConfigError:
    return ConfigError(
        f"A user asked to leave the table {source} out",
        fix=f"`hudi-services cdc sync {server} --resume {source}`, or RESUME TABLE, loads it again",
    )

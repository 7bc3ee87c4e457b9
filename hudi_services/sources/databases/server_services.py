"""Services of the Hudi tables that rules of a server made: those that are due, within a time, the most urgent first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from hoodie.config import select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.archive import MAX_COMMITS as ARCHIVE_AFTER
from hoodie.config.keys.clean import TRIGGER_COMMITS as CLEAN_AFTER
from hoodie.config.keys.clustering import MAX_COMMITS as CLUSTER_AFTER
from hoodie.config.keys.compaction import DELTA_COMMITS, TRIGGER
from hoodie.display import counted
from hoodie.errors import HoodieError, TableNotFoundError, TablePausedError
from hoodie.model.time import BEGINNING
from hoodie.services.archive.service import ARCHIVE
from hoodie.services.clean.service import CLEAN
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.inline import Step, at_once, scheduled_and_executed
from hoodie.table import HoodieTable
from hoodie.timeline import Action
from hoodie.timeline.timeline import Timeline
from hudi_services.entry.database_rules import DatabaseRule, RuleService
from hudi_services.runtime.pause import pause_errors
from hudi_services.sources.cdc.mysql.target_table import load_engine
from hudi_services.sources.databases.plan_store import StoredPlan

_STEPS: Mapping[RuleService, Step] = {
    "compact": scheduled_and_executed(COMPACTION, counts=False),
    "cluster": scheduled_and_executed(CLUSTERING, counts=False),
    "clean": at_once(CLEAN, counts=False),
    "archive": at_once(ARCHIVE, counts=False),
}
"""Each after those whose files it may take."""
_CLEAN_AFTER = 5
"""Commits since the last clean that start one, where the rule does not say it: a clean lists the table."""
_AT_ONCE = 16  # tables whose timeline is read


@dataclass(frozen=True)
class DueService:
    """A service of the table at `base_path` that is due, and why. `urgency` is how far past its limit the table is (1: at it)."""

    base_path: str
    rule: DatabaseRule
    service: RuleService
    urgency: float
    reason: str


@dataclass(frozen=True)
class ServiceRun:
    """A service that was due: `done`, `failed`, or `left` because no time was there or its table is paused, with the reason.

    `service` is `any` for a table that cannot be opened, or whose rule has an option with a mistake.
    """

    base_path: str
    service: RuleService | Literal["any"]
    state: Literal["done", "failed", "left"]
    due: str
    message: str


def due_services(base_path: str, rule: DatabaseRule, timeline: Timeline, *, is_merge_on_read: bool) -> list[DueService]:
    """Return the services of a rule that its table may need now, by its timeline. The services themselves decide."""
    own = rule.write_options
    limits = resolve(
        select_keys(own, keys := (ARCHIVE_AFTER, CLEAN_AFTER, CLUSTER_AFTER, DELTA_COMMITS, TRIGGER)), keys
    )
    timed = limits[TRIGGER] != "NUM_COMMITS"
    clean_after = limits[CLEAN_AFTER] if limits.is_set(CLEAN_AFTER) else _CLEAN_AFTER
    pending_actions = {instant.action for instant in timeline.pending}
    commits = len(timeline.commits)
    counts: dict[RuleService, tuple[int, int, str]] = {
        "cluster": (_since(timeline, Action.REPLACE_COMMIT), limits[CLUSTER_AFTER], "since the last clustering"),
        "clean": (_since(timeline, Action.CLEAN), clean_after, "since the last clean"),
        "archive": (commits, limits[ARCHIVE_AFTER] + 1, "on the timeline"),
    }
    if is_merge_on_read:
        after = 1 if timed else limits[DELTA_COMMITS]
        counts["compact"] = (_since(timeline, Action.COMMIT), after, "since the last compaction")
    pending: dict[RuleService, bool] = {
        "compact": Action.COMPACTION in pending_actions,
        "cluster": Action.CLUSTERING in pending_actions or Action.REPLACE_COMMIT in pending_actions,
    }
    due = []
    for service in _STEPS:
        count, limit, words = counts.get(service, (0, 1, ""))
        if service in rule.services and (count >= limit or pending.get(service)):
            reason = f"{counted(count, 'commit')} {words}, {limit} start one"
            waits = "; a plan waits" if pending.get(service) else ""
            due.append(DueService(base_path, rule, service, max(1.0, count / limit), reason + waits))
    return due


def _since(timeline: Timeline, action: Action) -> int:
    """The commits after the last completed instant of an action."""
    completed = timeline.completed(action)
    last = completed[-1].time if completed else BEGINNING
    return sum(commit.time > last for commit in timeline.commits)


@dataclass(frozen=True)
class ServerServices:
    """Runs services of the tables of `plan`. New ones begin for `seconds`."""

    plan: StoredPlan
    seconds: float
    monotonic: Callable[[], float] = field(default=time.monotonic)

    def run(self) -> Iterator[ServiceRun]:
        """Yield each service that is due, when it is done. The most urgent begins first, and a service that began is not stopped.

        A service that fails leaves the others alone.
        """
        began = self.monotonic()
        targets = dict(self._targets())
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            results = [result for every in pool.map(lambda pair: _due(*pair), targets.items()) for result in every]
        yield from (result for result in results if isinstance(result, ServiceRun))
        due = [result for result in results if isinstance(result, DueService)]
        order = list(_STEPS)
        urgency = {
            path: max(due_service.urgency for due_service in due if due_service.base_path == path)
            for path in {due_service.base_path for due_service in due}
        }
        due.sort(key=lambda run: (-urgency[run.base_path], run.base_path, order.index(run.service)))
        for due_service in due:
            if self.monotonic() - began > self.seconds:
                message = f"not started: the {self.seconds:.0f} s for services were over. The next run goes on"
                yield ServiceRun(due_service.base_path, due_service.service, "left", due_service.reason, message)
            else:
                yield _run(due_service)

    def _targets(self) -> Iterator[tuple[str, DatabaseRule]]:
        """The base paths of the plan with their rules. Tables that are refused now keep their services."""
        for name, path in self.plan.paths.items():
            database, _, table = name.partition(".")
            for rule in self.plan.rules:
                if rule.takes(database, table) and rule.path_of(database, table) == path:
                    yield path, rule
                    break


def _due(base_path: str, rule: DatabaseRule) -> Sequence[DueService | ServiceRun]:
    try:
        table = HoodieTable.open(base_path)
        return due_services(base_path, rule, table.timeline, is_merge_on_read=table.properties.is_merge_on_read)
    except TableNotFoundError:  # no run has loaded it yet
        return ()
    except HoodieError as error:
        return (ServiceRun(base_path, "any", "failed", "it is not known what is due", str(error)),)


def _run(due: DueService) -> ServiceRun:
    step = _STEPS[due.service]
    if (error := pause_errors([due.base_path], due.service).get(due.base_path)) is not None:
        state: Literal["left", "failed"] = "left" if isinstance(error, TablePausedError) else "failed"
        return ServiceRun(due.base_path, due.service, state, due.reason, str(error))
    try:
        table = HoodieTable.open(due.base_path, engine=load_engine())
        options = resolve(select_keys(due.rule.write_options, step.keys), step.keys)
        message, _ = step.act(table.access, options)
    except HoodieError as error:
        return ServiceRun(due.base_path, due.service, "failed", due.reason, str(error))
    return ServiceRun(due.base_path, due.service, "done", due.reason, message)

"""Takes back what a table's instants wrote: a restore, or a rollback."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.model.restore import RestorePlan
from hoodie.model.rollback import RollbackPlan
from hoodie.services.decision import Decision
from hoodie.services.service import Service
from hoodie.services.stages import Facts, Notes
from hoodie.table import HoodieTable
from hoodie.timeline import Action
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult
from hudi_services.services.restore.feed_reload import Feeds, Reloads, reloads_of

_NAMED = 5  # files that a message names


class TookBack(Protocol):
    """The result of taking back: `files_deleted` counts files."""

    @property
    def decision(self) -> Decision[Any]: ...

    @property
    def files_deleted(self) -> int: ...


class TakesBack(Service[Any, Any], Protocol):
    """A service that deletes what instants wrote, for good. Its runs end in a `TookBack`."""

    def agreed(self, decision: Decision[Any]) -> TakesBack:
        """The service that takes back what was approved, and no more."""
        ...


@dataclass(frozen=True)
class TakeBackTask:
    """Takes the table at `base_path` back by `service`; `options` are the service's own. With `skip_files` the source files of
    the commits that go count as loaded afterwards."""

    base_path: str
    service: TakesBack
    options: Mapping[str, object]
    skip_files: bool = False

    def explain(self, engine: Engine) -> Decision[Any]:
        table = HoodieTable.open(self.base_path, engine=engine)
        decision = table.explain(self.service, self.options)
        if decision.plan is None:
            return decision
        reloads = reloads_of(table.state(), _times(decision.plan))
        lines = () if self.skip_files else tuple(reloads.lines())
        return replace(decision, stages=(*decision.stages, Facts(reloads.facts()), Notes(lines)))

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        before, schema = Feeds.of(table.state()), table.stored_schema
        result: TookBack = table.run(self.service, self.options)
        message, instant = self.service.report(result)
        items = result.decision.items
        size = items.bytes if items is not None else 0
        reloads = Reloads(before, Feeds.of(table.state()))
        files = reloads.files
        if files and self.skip_files:
            reloads.skip(table, schema, self.options)
            message += (
                f"; {counted(len(files), 'source file')} {'stays' if len(files) == 1 else 'stay'} marked as loaded"
            )
        elif files:
            message += f"; the next run of the feed loads {counted(len(files), 'file')} again: {_named(files)}"
        message += _savepoints_text(table)
        return ServiceResult(
            self.service.name,
            message,
            instant,
            files_deleted=result.files_deleted,
            bytes_deleted=size,
            loads_again=() if self.skip_files else tuple(files),
        )

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are deleted, no row is read")

    def confirmed(self, decision: Decision[Any]) -> TakeBackTask:
        """The task that does what was agreed to, and no more."""
        return replace(self, service=self.service.agreed(decision))


def _times(plan: RollbackPlan | RestorePlan) -> frozenset[str]:
    """The instants that go."""
    return frozenset(plan.times) if isinstance(plan, RestorePlan) else frozenset([plan.instant])


def _savepoints_text(table: HoodieTable) -> str:
    """The savepoints that stay, with the command that deletes the newest one."""
    saved = [instant.time for instant in table.timeline.completed(Action.SAVEPOINT)]
    if not saved:
        return ""
    stay = (
        f"savepoint {saved[-1]} stays" if len(saved) == 1 else f"{len(saved)} savepoints stay, the newest {saved[-1]}"
    )
    delete = f"savepoint delete --instant {saved[-1]} --target-base-path {shlex.quote(table.base_path)}"
    return f"; {stay}. Cleans keep its files until `hudi-services {delete}`"


def _named(files: Sequence[str]) -> str:
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return f"{', '.join(files[:_NAMED])}{more}"

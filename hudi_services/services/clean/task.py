"""Removes file slices that no retained view of the table needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import DeleteCapError
from hoodie.model.clean import CleanPlan
from hoodie.model.time import BEGINNING
from hoodie.services.clean.service import CLEAN, Clean
from hoodie.services.decision import Decision
from hoodie.table import HoodieTable
from hoodie.timeline.instant import Action
from hudi_services.entry.dag import Outlook
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import Gain, ServiceResult


@dataclass(frozen=True)
class CleanTask:
    """A clean of the table at `base_path`; `options` are its own.

    A plan that deletes more than a run may without approval needs `agreed` to be its digest. If it is not, the task
    calls `ask`. With `only` it carries out the plan of this digest and no other.
    """

    base_path: str
    options: Mapping[str, object]
    agreed: str | None = None
    only: str | None = None
    ask: Callable[[str], bool] = lambda _question: False

    def explain(self, engine: Engine) -> Decision[CleanPlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(CLEAN, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        try:
            result = table.run(Clean(self.agreed, self.only), self.options)
        except DeleteCapError as error:
            if not self.ask(f"{error.what}: {error.found}. Delete them?"):
                raise
            result = table.run(Clean(error.digest, self.only), self.options)
        planned = result.decision.plan
        message, instant = CLEAN.report(result)
        return ServiceResult(
            "clean",
            message,
            instant,
            files_deleted=result.files_deleted,
            bytes_deleted=planned.bytes if planned else 0,
            blockers=tuple(blocker.as_dict() for blocker in result.decision.blockers),
            gain=Gain(bytes_freed=planned.bytes if planned else 0),
        )

    def work(self, engine: Engine) -> Work:
        return Work(0, "files are deleted, no row is read")


def outlook(base_path: str, after_ingests: int) -> Outlook:
    """A clean is due `after_ingests` completed writes after the last completed one."""
    timeline = HoodieTable.open(base_path).timeline
    cleans = timeline.completed(Action.CLEAN)
    last = cleans[-1].time if cleans else BEGINNING
    commits = sum(commit.time > last for commit in timeline.commits)
    return Outlook(
        commits >= after_ingests, f"{counted(commits, 'commit')} since the last clean; {after_ingests} start one"
    )

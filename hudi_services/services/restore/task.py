"""Makes and deletes savepoints of a table, and restores it to one by an approved plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hoodie.config import select_keys
from hoodie.config.groups import SAVEPOINT_OPTIONS
from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import DeleteCapError, SavepointError
from hoodie.services.decision import Decision
from hoodie.services.restore.service import Restore
from hoodie.services.stage_text import stage_lines
from hoodie.services.stages import Loss, Notes
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult
from hudi_services.services.restore.execution import TakeBackTask

_NO_ROW = Work(0, "files are kept or deleted, no row is read")


@dataclass(frozen=True)
class MakeSavepointTask:
    """Keeps the files of a commit of the table at `base_path`; None: of the last one."""

    base_path: str
    instant: str | None
    comments: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[Any]:
        return Decision(None, f"a savepoint of {self.instant or 'the last commit'} would be made")

    def run(self, engine: Engine) -> ServiceResult:
        """The result has no instant, as no row is changed."""
        table = HoodieTable.open(self.base_path, engine=engine)
        locking = select_keys(self.options, SAVEPOINT_OPTIONS.keys)
        savepoint = table.savepoint(self.instant, comments=self.comments, options=locking)
        files = counted(sum(1 for _ in savepoint.paths), "file")
        return ServiceResult("restore", f"made savepoint {savepoint.instant}, which keeps {files}", acted=True)

    def work(self, engine: Engine) -> Work:
        return _NO_ROW


@dataclass(frozen=True)
class DeleteSavepointTask:
    """Lets the next cleans remove what only a savepoint of the table at `base_path` keeps."""

    base_path: str
    instant: str
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[Any]:
        return Decision(None, f"savepoint {self.instant} would be deleted")

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        table.delete_savepoint(self.instant, select_keys(self.options, SAVEPOINT_OPTIONS.keys))
        return ServiceResult("restore", f"deleted savepoint {self.instant}", acted=True)

    def work(self, engine: Engine) -> Work:
        return _NO_ROW


@dataclass(frozen=True)
class RestoreTask:
    """Takes the table at `base_path` back to the savepoint `instant`, by the plan whose digest is `agreed` to, and by
    no other.

    `tell` is for the lines of a plan that is not approved.
    """

    base_path: str
    instant: str
    options: Mapping[str, object]
    agreed: str = ""
    tell: Callable[[str], None] = lambda _line: None
    skip_files: bool = False

    @property
    def _task(self) -> TakeBackTask:
        return TakeBackTask(self.base_path, Restore(self.instant), self.options, self.skip_files)

    def explain(self, engine: Engine) -> Decision[Any]:
        return self._task.explain(engine)

    def run(self, engine: Engine) -> ServiceResult:
        """Raises DeleteCapError, with the digest, for a plan that is not approved, SavepointError when it is another
        one."""
        decision = self.explain(engine)
        if decision.plan is not None and decision.digest != self.agreed:
            raise self._another(decision) if self.agreed else self._question(decision)
        return self._task.confirmed(decision).run(engine)

    def _question(self, decision: Decision[Any]) -> DeleteCapError:
        for line in decision.as_text("restore").splitlines():
            self.tell(line)
        instants = counted(len(decision.items or ()), "instant")
        return DeleteCapError(
            f"Restoring table {self.base_path} to savepoint {self.instant} takes back {instants}",
            found="; ".join(
                line for stage in decision.stages if isinstance(stage, Loss | Notes) for line in stage_lines(stage)
            ),
            fix="agree to it, or leave the table as it is; nothing was changed",
            digest=decision.digest,
        )

    def _another(self, decision: Decision[Any]) -> SavepointError:
        return SavepointError(
            f"Table {self.base_path} was not restored to savepoint {self.instant}",
            found=f"the current plan is {decision.digest}, and {self.agreed} was approved",
            fix="run it again: it shows the current plan, and asks again; nothing was changed",
        )

    def work(self, engine: Engine) -> Work:
        return _NO_ROW

"""The cleaner as a service: it acts at once, under the table's lock."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import CLEAN_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.model.clean import CleanPlan
from hoodie.services.clean.execute import CleanRun, run_clean
from hoodie.services.clean.plan import GRACE_UNTIL, decide_clean
from hoodie.services.decision import Decision
from hoodie.transaction.trash import until_of
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class Clean:
    """Removes file slices that no retained view of the table needs.

    If these are more than a run may delete without approval, only the plan whose digest (`Decision.digest`) is `agreed` to runs,
    or one that differs little from it (`run_clean`). With `only` it executes the plan of this digest and no other.
    """

    agreed: str | None = None
    only: str | None = None
    name: str = "clean"
    options: OptionGroup = CLEAN_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[CleanPlan]:
        """See `decide_clean`."""
        return decide_clean(state, options, clock)

    def run(self, access: TableAccess, options: RawOptions) -> CleanRun:
        """See `run_clean`."""
        return run_clean(access, options, agreed=self.agreed, only=self.only)

    def report(self, run: CleanRun) -> tuple[str, str | None]:
        if not run.results:
            return f"nothing to do: {run.decision.summary}", None
        return f"{counted(run.files_deleted, 'file')} {_fate(run)}; {run.decision.summary}", run.results[-1].start


def _fate(run: CleanRun) -> str:
    plan = run.decision.plan
    until = until_of(plan.extra.get(GRACE_UNTIL, "")) if plan is not None else None
    return f"set aside until {until:%Y-%m-%d %H:%M} UTC" if until is not None else "removed"


CLEAN = Clean()

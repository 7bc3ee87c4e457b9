"""The TTL of partitions as a service: it acts at once, by one replacecommit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config import select_keys
from hoodie.config.groups import TTL_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.keys.write import WRITE_KEYS
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.services.decision import Decision
from hoodie.services.ttl.plan import TtlPlan, decide_ttl
from hoodie.view import TableState
from hoodie.view.access import TableAccess
from hoodie.write.drop import drop_chosen
from hoodie.write.execute import WriteResult

_WHY = "hoodie.partition.ttl.expired"  # a key of ours in the commit: by which rule its partitions went


@dataclass(frozen=True)
class TtlRun:
    """The last decision, and the commit; None when there was nothing to drop."""

    decision: Decision[TtlPlan]
    commit: WriteResult | None = None


@dataclass(frozen=True)
class Ttl:
    """Drops partitions that have outlived their time. If these are more than a run may delete without approval, only the plan
    whose digest (`Decision.digest`) is `agreed` to runs. With `only` it executes the plan of this digest and no other."""

    agreed: str | None = None
    only: str | None = None
    name: str = "ttl"
    options: OptionGroup = TTL_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[TtlPlan]:
        """See `decide_ttl`."""
        return decide_ttl(state, options, clock)

    def run(self, access: TableAccess, options: RawOptions) -> TtlRun:
        """Decide, and once more under the table's lock: a partition that was written in between stays.

        Raises DeleteCapError, PlanChangedError, LockHeldError, WriteConflictError.
        """
        decision = self._allowed(access, access.state(), options)
        if decision.plan is None:
            return TtlRun(decision)
        decided = [decision]

        def choose(state: TableState) -> tuple[list[str], Mapping[str, str]] | None:
            decided.append(self._allowed(access, state, options))
            plan = decided[-1].plan
            return (plan.partitions, {_WHY: plan.rule}) if plan is not None else None

        result = drop_chosen(access, choose, resolve(select_keys(options, WRITE_KEYS), WRITE_KEYS))
        return TtlRun(decided[-1], result)

    def _allowed(self, access: TableAccess, state: TableState, options: RawOptions) -> Decision[TtlPlan]:
        decision = self.decide(state, options, access.clock)
        decision.only(self.name, access.storage.base_path, self.only)
        decision.allowed(self.name, access.storage.base_path, agreed=self.agreed)
        return decision

    def report(self, run: TtlRun) -> tuple[str, str | None]:
        plan = run.decision.plan
        if run.commit is None or plan is None:
            return f"nothing to do: {run.decision.summary}", None
        return f"{counted(len(plan.expired), 'partition')} dropped; {run.decision.summary}", run.commit.instant.time


TTL = Ttl()
"""The service `ttl`."""

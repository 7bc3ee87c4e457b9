"""The upgrade of a table to a later version, as a service: it acts at once, under the table's lock."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import UPGRADE_OPTIONS, OptionGroup
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.display import Shown, Shows, counted
from hoodie.services.decision import Decision
from hoodie.services.obstacle import refuse
from hoodie.services.upgrade.execute import carry_out, go_on
from hoodie.services.upgrade.plan import UpgradePlan, decide_upgrade, held
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.locks.table_lock import table_lock
from hoodie.transaction.repair import repaired
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True, repr=False)
class UpgradeRun(Shows):
    """Result of an upgrade: the decision, and the version that the table has now."""

    decision: Decision[UpgradePlan]
    version: int

    def shown(self) -> Shown:
        """The version, and why."""
        return Shown(f"UpgradeRun(version {self.version}; {self.decision.reason})")


@dataclass(frozen=True)
class Upgrade:
    """Upgrades a table to version `target`, 8 or 9. Data files stay as they are.

    `despite` are the kinds of obstacles to pass over: `merging`. With `only`, the digest of a plan, it carries out that plan and
    no other.
    """

    target: int
    despite: tuple[str, ...] = ()
    only: str | None = None
    name: str = "upgrade"
    options: OptionGroup = UPGRADE_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[UpgradePlan]:
        """See `decide_upgrade`."""
        return decide_upgrade(state, self.target, self.despite, resolve(options, self.options.keys), clock)

    def run(self, access: TableAccess, options: RawOptions) -> UpgradeRun:
        """Decide, and do it. Safe to kill at any point: the table has one of the versions whole, and the next run goes on.

        Raises what `decide_upgrade` and `carry_out` raise, PendingInstantError for an obstacle, PlanChangedError, LockHeldError.
        """
        resolved = resolve(options, self.options.keys)
        decision = self._checked(access.state(), options, access.clock)
        if decision.plan is None:  # without waiting for a writer
            return UpgradeRun(decision, self.target)
        with table_lock(access.storage, access.clock, self.name, Locking.of(resolved)):
            state = repaired(access.storage, access.clock, ConcurrencyOptions.of(resolved))
            decision = self._checked(state, options, access.clock)
            plan = decision.plan
            if plan is None:
                return UpgradeRun(decision, state.properties.version)
            if plan.left is None:
                carry_out(state, plan, access.clock)
            else:
                go_on(state, access.clock)
        return UpgradeRun(decision, plan.properties.version)

    def report(self, done: UpgradeRun) -> tuple[str, str | None]:
        """The message about the version; an upgrade has no instant on the timeline."""
        plan = done.decision.plan
        if plan is None:
            return f"nothing to do: {done.decision.reason}", None
        files = f"{counted(len(plan.files), 'file')} of the timeline converted" if plan.files else done.decision.reason
        return f"the table has version {done.version}; {files}", None

    def _checked(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[UpgradePlan]:
        decision = self.decide(state, options, clock)
        refuse(f"The upgrade of table {state.storage.base_path}", held(decision), ())
        decision.only(self.name, state.storage.base_path, self.only)
        return decision

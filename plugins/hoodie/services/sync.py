"""Hive sync as a service. It acts at once; what it changes is a catalog, and never the table."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import SYNC_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.services.decision import Decision
from hoodie.services.stages import CatalogChanges
from hoodie.sync.connect import open_catalog
from hoodie.sync.model import SyncPlan
from hoodie.sync.run import Connect, explain_sync, run_sync
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class Sync:
    """Makes a catalog's entries of a table equal to it; `connect` opens the catalog that the options name."""

    connect: Connect = open_catalog
    name: str = "sync"
    options: OptionGroup = SYNC_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[SyncPlan]:
        """Changes of the catalog, in order. Raises what `explain_sync` raises."""
        plan = explain_sync(state, options, self.connect)
        changes = CatalogChanges(plan.instant, plan.extractor, plan.actions)
        return Decision(plan if plan.actions else None, plan.reason, stages=(changes,))

    def run(self, access: TableAccess, options: RawOptions) -> SyncPlan:
        """See `run_sync`. Returns what was changed."""
        return run_sync(access.state(), options, self.connect)

    def report(self, plan: SyncPlan) -> tuple[str, str | None]:
        """The instant is the last commit that the catalog knows now."""
        return f"{len(plan.actions)} changes to the catalog; {plan.reason}", plan.instant if plan.actions else None


SYNC = Sync()

"""Compaction as a service: scheduled, and carried out apart."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import COMPACT_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.model.compaction import CompactionPlan
from hoodie.model.time import Time
from hoodie.services.compaction.execute import execute_compaction
from hoodie.services.compaction.plan import decide_compaction
from hoodie.services.decision import Decision
from hoodie.services.rewrite.run import CompactionResult
from hoodie.services.service import Cache
from hoodie.timeline import Action
from hoodie.timeline.codecs.compaction import encode_compaction_plan
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class Compaction:
    """Logs become new base files. Writers may go on while a plan is carried out."""

    name: str = "compact"
    action: Action = Action.COMPACTION
    options: OptionGroup = COMPACT_OPTIONS

    def decide(
        self, state: TableState, options: RawOptions, clock: Clock, *, force: bool = False, cache: Cache | None = None
    ) -> Decision[CompactionPlan]:
        """See `decide_compaction`."""
        return decide_compaction(state, options, clock, force=force)

    def encode(self, plan: CompactionPlan) -> bytes:
        return encode_compaction_plan(plan)

    def execute(self, access: TableAccess, time: Time, options: RawOptions) -> CompactionResult:
        """See `execute_compaction`."""
        return execute_compaction(access, time, options)


COMPACTION = Compaction()

"""Log compaction as a service: scheduled, and carried out apart."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import COMPACT_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.model.compaction import CompactionPlan
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.services.log_compaction.execute import execute_log_compaction
from hoodie.services.log_compaction.plan import decide_log_compaction
from hoodie.services.rewrite.run import CompactionResult
from hoodie.services.service import Cache
from hoodie.timeline import Action
from hoodie.timeline.codecs.compaction import encode_compaction_plan
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class LogCompaction:
    """Many small log blocks become one. There is no trigger: with `force`, too, slices with few blocks are left alone."""

    name: str = "log compact"
    action: Action = Action.LOG_COMPACTION
    options: OptionGroup = COMPACT_OPTIONS

    def decide(
        self, state: TableState, options: RawOptions, clock: Clock, *, force: bool = False, cache: Cache | None = None
    ) -> Decision[CompactionPlan]:
        """See `decide_log_compaction`."""
        return decide_log_compaction(state, options, clock, cache)

    def encode(self, plan: CompactionPlan) -> bytes:
        return encode_compaction_plan(plan)

    def execute(self, access: TableAccess, time: Time, options: RawOptions) -> CompactionResult:
        """See `execute_log_compaction`."""
        return execute_log_compaction(access, time, options)


LOG_COMPACTION = LogCompaction()

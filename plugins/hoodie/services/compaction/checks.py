"""Whether a compaction plan still fits the table: what contradicts it is refused before anything is written."""

from __future__ import annotations

from hoodie.errors import CorruptTableError, unschedule_fix
from hoodie.model.compaction import CompactionPlan
from hoodie.services.rewrite.checks import compacted_since
from hoodie.timeline import Instant
from hoodie.view import Busy, TableView


def check_current(view: TableView, plan: CompactionPlan, instant: Instant) -> None:
    """Raises CorruptTableError when another pending plan names a group of this one, or a newer base file of a group exists.

    No writer makes such plans: one that would be carried out twice hides what came between the two.
    """
    state = view.state
    groups = [operation.group for operation in plan.operations]
    other = Busy(state, but=instant).compacting
    twice = next((group for number, group in enumerate(groups) if group in other or group in groups[:number]), None)
    if twice is not None:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} was planned twice for one file group",
            found=f"group {twice.file_id} of partition {twice.partition!r}, also in {other.get(twice, instant).time}",
            fix=f"nothing was changed; give one of the two plans up: {unschedule_fix(instant.time)}",
        )
    newer = compacted_since(view, plan.operations)
    if newer:
        raise CorruptTableError(
            f"Compaction {instant.time} of table {state.storage.base_path} is out of date",
            found=f"base file {min(base.path for base in newer.values())} is newer than its plan",
            fix=f"nothing was changed; give this plan up: {unschedule_fix(instant.time)}",
        )

"""Planning a log compaction: which slices have many small log blocks (format notes, section 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from hoodie.clock import Clock
from hoodie.config.key import resolve
from hoodie.config.keys import compaction as keys
from hoodie.config.options import RawOptions
from hoodie.errors import UnsupportedTableError
from hoodie.formats.log import LogBlock
from hoodie.merge import merge_rules
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import FileSlice, LogFile
from hoodie.services.blockers import blockers_of
from hoodie.services.decision import Decision
from hoodie.services.rewrite.blockers import holds_of_plans
from hoodie.services.rewrite.plan import (
    backlog_of,
    check_merge_on_read,
    decision,
    planned_operation,
    waiting_slices,
)
from hoodie.services.service import Cache
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.view import TableState, TableView
from hoodie.view.log_blocks import blocks_of, counting
from hoodie.view.missing_files import retried_when_missing

_READERS = 16  # headers are waited for, not worked on


@retried_when_missing
def decide_log_compaction(
    state: TableState, raw_options: RawOptions, clock: Clock, cache: Cache | None = None
) -> Decision[CompactionPlan]:
    """Plan a log compaction of the slices with enough blocks (`hoodie.log.compaction.blocks.threshold`).

    Lists partitions and reads the headers of log blocks, changes nothing. Raises ConfigError, or UnsupportedTableError where log
    compaction would change what readers see.
    """
    options = resolve(raw_options, keys.COMPACTION_KEYS)
    check_supported(state)
    view = TableView(state)
    log_slices = waiting_slices(view)
    several = [s for s in log_slices if s.group not in view.busy.log_compacting]
    required = options[keys.LOG_BLOCKS_THRESHOLD]
    blocks = _valid_blocks(state, several, {} if cache is None else cache)
    chosen = [s for s, valid in zip(several, blocks, strict=True) if len(valid) >= required and mergeable(valid)]
    backlog = backlog_of(state, log_slices)
    reason = f"{len(chosen)} file groups have {required} log blocks or more"
    operations = tuple(planned_operation(file_slice, logs_only=True) for file_slice in chosen)
    decided = decision(CompactionPlan(operations, logs_only=True) if operations else None, reason, backlog, "logs only")
    holds = holds_of_plans(view, of_logs=True)
    return replace(decided, blockers=blockers_of(holds, state, clock, ConcurrencyOptions.of(options)))


def check_supported(state: TableState) -> None:
    """Raises UnsupportedTableError where log compaction would change what readers see."""
    check_merge_on_read(state)
    if not state.properties.features.log_compaction:
        raise UnsupportedTableError(
            f"Logs of table {state.storage.base_path} cannot be compacted: it is of version {state.properties.version}",
            found="readers of Hudi 0.x apply a merged block a second time, after blocks that were written since it was planned",
            fix="compact the table fully",
        )
    if merge_rules(state.properties).partial is not None:
        raise UnsupportedTableError(
            f"Logs of table {state.storage.base_path} cannot be compacted: its updates are partial",
            found="partial updates and the rows that they fill are in separate blocks, which one block cannot hold apart",
            fix="compact it fully",
        )


def mergeable(blocks: Sequence[LogBlock]) -> bool:
    """Return whether one block can hold the merged rows of these blocks. Partial updates need their own blocks."""
    return not any(block.is_partial for block in blocks)


def _valid_blocks(state: TableState, slices: list[FileSlice], cache: Cache) -> list[list[LogBlock]]:
    """The valid blocks of each slice. Contents of a log of some size never change: `cache` keeps them."""

    def scan(log: LogFile) -> None:
        key = (log.path, log.info.size)
        if key not in cache:
            cache[key] = blocks_of(state.storage, log)

    with ThreadPoolExecutor(_READERS) as pool:
        list(pool.map(scan, (log for file_slice in slices for log in file_slice.log_files)))
    result = ([b for log in s.log_files for b in cache[log.path, log.info.size]] for s in slices)
    return [counting(blocks, state.timeline) for blocks in result]

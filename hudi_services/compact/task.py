"""Schedules and executes compactions of a merge-on-read table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from hoodie.config import COMPACTION_KEYS
from hoodie.config.compaction_keys import LOG_COMPACTION
from hoodie.config.key import resolve
from hoodie.engine import Engine
from hoodie.services.compaction.execute import schedule_compaction
from hoodie.services.log_compaction.execute import schedule_log_compaction
from hoodie.services.rewrite.plan import CompactionDecision
from hoodie.services.rewrite.run import CompactionResult, execute_waiting, pending_compactions
from hoodie.table import HoodieTable
from hoodie.view import compaction_plan
from hudi_services.entry.dag import Outlook
from hudi_services.entry.explanation import Explanation, Item, Items
from hudi_services.result import ServiceResult

_MEGABYTE = 1024 * 1024  # bytes; Hudi's plans count in megabytes


@dataclass(frozen=True)
class CompactTask:
    """Compactions of the table at `base_path`: scheduled, executed, or both, as `mode` says.

    Executed are all that wait, the oldest first and at most `max_plans`, or only the one of `instant`. With `force` one is
    scheduled although the trigger says that none is due.
    """

    base_path: str
    options: Mapping[str, object]
    mode: str
    instant: str | None
    max_plans: int | None
    force: bool

    def explain(self, engine: Engine) -> Explanation:
        table = HoodieTable.open(self.base_path, engine=engine)
        return _explanation(table, _next_compaction(table, self.options))

    def run(self, engine: Engine) -> ServiceResult:
        table = HoodieTable.open(self.base_path, engine=engine)
        said: list[str] = []
        scheduled = None
        if self.mode != "execute":
            scheduled, reason = _schedule(table, self.options, force=self.force)
            said.append(f"scheduled {scheduled}" if scheduled else f"none scheduled: {reason}")
        results: list[CompactionResult] = []
        if self.mode != "schedule":
            waiting = [pending.time for pending in pending_compactions(table.state())]
            results = self._execute(table, waiting)
            said.append(f"executed {len(results)} of {max(len(waiting), len(results))} waiting")
        stats = [stat for result in results for stat in result.metadata.stats]
        return ServiceResult(
            "compact",
            message="; ".join(said),
            instant=results[-1].instant.time if results else scheduled,
            rows_written=sum(stat.num_writes for stat in stats),
            rows_updated=sum(stat.num_updates for stat in stats),
            rows_inserted=sum(stat.num_inserts for stat in stats),
            rows_deleted=sum(stat.num_deletes for stat in stats),
            files_written=len(stats),
            bytes_written=sum(stat.file_size for stat in stats),
        )

    def _execute(self, table: HoodieTable, waiting: list[str]) -> list[CompactionResult]:
        if self.instant is not None:
            return table.compact(self.instant, self.options)
        done = execute_waiting(table.access, waiting[: self.max_plans], lambda each: table.compact(each, self.options))
        return [result for each in done for result in each]


def outlook(base_path: str, options: Mapping[str, str]) -> Outlook:
    """There is something to do when a plan is due or waits. The fact `backlog`: log files and bytes, the oldest log, plans."""
    decision = _next_compaction(HoodieTable.open(base_path), options)
    backlog = {**asdict(decision.backlog), "reason": decision.reason}
    due = decision.plan is not None or decision.backlog.pending_plans > 0
    return Outlook(due, f"compaction backlog of {base_path}: {backlog}", {"backlog": backlog})


def _schedule(table: HoodieTable, options: Mapping[str, object], *, force: bool) -> tuple[str | None, str]:
    """The instant of a compaction, or else of a log compaction where these are wanted; without one the reason."""
    instant, decision = schedule_compaction(table.access, options, force=force)
    reason = decision.reason
    if instant is None and resolve(options, COMPACTION_KEYS)[LOG_COMPACTION]:
        instant, decision = schedule_log_compaction(table.access, options)
        reason = _both(reason, decision)
    return instant.time if instant is not None else None, reason


def _next_compaction(table: HoodieTable, options: Mapping[str, object]) -> CompactionDecision:
    """What would be scheduled now: a compaction, or else a log compaction where these are wanted."""
    full = table.explain_compaction(options)
    if full.plan is not None or not resolve(options, COMPACTION_KEYS)[LOG_COMPACTION]:
        return full
    logs = table.explain_log_compaction(options)
    return replace(logs, reason=_both(full.reason, logs))


def _both(reason: str, logs: CompactionDecision) -> str:
    return f"{reason}; of logs only: {logs.reason}"


def _explanation(table: HoodieTable, decision: CompactionDecision) -> Explanation:
    """What would be scheduled now, per file group with the bytes read and written, and what waits already."""
    state, backlog, plan = table.state(), decision.backlog, decision.plan
    waiting: list[dict[str, Any]] = [
        {
            "instant": pending.time,
            "action": str(pending.action),
            "file_groups": len(compaction_plan(state, pending).operations),
        }
        for pending in pending_compactions(state)
    ]
    items = tuple(
        Item(
            f"{operation.partition}/{operation.file_id}".lstrip("/"),
            int(operation.metrics["TOTAL_IO_READ_MB"] * _MEGABYTE),
            f"{len(operation.log_files)} logs of {int(operation.metrics['TOTAL_LOG_FILES_SIZE']):,} bytes",
            {"bytes_written": int(operation.metrics["TOTAL_IO_WRITE_MB"] * _MEGABYTE)},
        )
        for operation in (plan.operations if plan else ())
    )
    return Explanation(
        "compact",
        decision.reason,
        Items("compact", items, decision.bytes_read, noun="file groups"),
        facts={
            "backlog": {
                "file_groups": backlog.file_groups,
                "log_files": backlog.log_files,
                "log_bytes": backlog.log_bytes,
                "oldest_log": backlog.oldest_log,
                "pending_plans": waiting,
            }
        },
        after=(
            f"backlog: {backlog.log_files} logs of {backlog.log_bytes:,} bytes in {backlog.file_groups} file groups, "
            f"the oldest of {backlog.oldest_log or 'none'}; {len(waiting)} plans wait to be executed",
        ),
    )

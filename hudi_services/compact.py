"""The command `compact`: schedules and executes compactions of a merge-on-read table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from hoodie.config import COMPACTION_KEYS, Service, own_options
from hoodie.config.compaction_keys import LOG_COMPACTION
from hoodie.config.key import resolve
from hoodie.errors import ConfigError
from hoodie.services.compaction import schedule_compaction
from hoodie.services.compaction_plan import CompactionDecision
from hoodie.services.compaction_run import CompactionResult, execute_waiting, pending_compactions
from hoodie.services.log_compaction import schedule_log_compaction
from hoodie.table import HoodieTable
from hoodie.view import compaction_plan
from hudi_services.explain import print_plan
from hudi_services.options import Common, common_options
from hudi_services.result import ServiceResult, finish

_MODES = ("schedule", "execute", "schedule-and-execute")


@click.command()
@common_options
@click.option("--mode", type=click.Choice(_MODES), default="schedule-and-execute", show_default=True)
@click.option("--instant", help="Execute only the pending compaction of this instant. [default: all, the oldest first]")
@click.option("--max-plans", type=click.IntRange(min=1), help="Execute at most so many pending compactions.")
@click.option("--force", is_flag=True, help="Schedule although the trigger says that none is due.")
def compact(
    common: Common,
    mode: str,
    instant: str | None,
    max_plans: int | None,
    force: bool,
) -> None:
    """Merge the logs of a merge-on-read table into new base files. Writers may go on meanwhile.

    With hoodie.log.compaction.enable=true, many small log blocks are merged into one when no compaction is due.
    """
    begun = time.monotonic()
    if instant is not None and mode != "execute":
        raise ConfigError("--instant names a compaction that is scheduled already", fix="use it with --mode execute")
    chosen = own_options(common.options, Service.COMPACT)
    runner = common.open_engine("hudi compact")
    table = HoodieTable.open(common.base_path, engine=runner)
    if common.explain:
        print_plan(_as_dict(table, next_compaction(table, chosen)), common.as_json)
        return
    said: list[str] = []
    scheduled = None
    if mode != "execute":
        scheduled, reason = _schedule(table, chosen, force=force)
        said.append(f"scheduled {scheduled}" if scheduled else f"none scheduled: {reason}")
    results: list[CompactionResult] = []
    if mode != "schedule":
        waiting = [pending.time for pending in pending_compactions(table.state())]
        if instant is not None:
            results = table.compact(instant, chosen)
        else:
            done = execute_waiting(table.access, waiting[:max_plans], lambda each: table.compact(each, chosen))
            results = [result for each in done for result in each]
        said.append(f"executed {len(results)} of {max(len(waiting), len(results))} waiting")
    stats = [stat for result in results for stat in result.metadata.stats]
    result = ServiceResult(
        "compact",
        message="; ".join(said),
        instant=results[-1].instant.time if results else scheduled,
        rows_written=sum(stat.num_writes for stat in stats),
        rows_updated=sum(stat.num_updates for stat in stats),
        rows_inserted=sum(stat.num_inserts for stat in stats),
        rows_deleted=sum(stat.num_deletes for stat in stats),
        files_written=len(stats),
        bytes_written=sum(stat.file_size for stat in stats),
        seconds=time.monotonic() - begun,
    )
    finish(result, common.as_json, common.result_path)


def _schedule(table: HoodieTable, options: Mapping[str, object], *, force: bool) -> tuple[str | None, str]:
    """The instant of a compaction, or else of a log compaction where these are wanted; without one the reason."""
    instant, decision = schedule_compaction(table.access, options, force=force)
    reason = decision.reason
    if instant is None and resolve(options, COMPACTION_KEYS)[LOG_COMPACTION]:
        instant, decision = schedule_log_compaction(table.access, options)
        reason = _both(reason, decision)
    return instant.time if instant is not None else None, reason


def next_compaction(table: HoodieTable, options: Mapping[str, object]) -> CompactionDecision:
    """What would be scheduled now: a compaction, or else a log compaction where these are wanted."""
    full = table.explain_compaction(options)
    if full.plan is not None or not resolve(options, COMPACTION_KEYS)[LOG_COMPACTION]:
        return full
    logs = table.explain_log_compaction(options)
    return replace(logs, reason=_both(full.reason, logs))


def _both(reason: str, logs: CompactionDecision) -> str:
    return f"{reason}; of logs only: {logs.reason}"


def _as_dict(table: HoodieTable, decision: CompactionDecision) -> dict[str, Any]:
    """What would be scheduled now, per file group with the bytes read and written, and what waits already."""
    state, backlog, plan = table.state(), decision.backlog, decision.plan
    megabyte = 1024 * 1024
    return {
        "service": "compact",
        "reason": decision.reason,
        "backlog": {
            "file_groups": backlog.file_groups,
            "log_files": backlog.log_files,
            "log_bytes": backlog.log_bytes,
            "oldest_log": backlog.oldest_log,
            "pending_plans": [
                {
                    "instant": pending.time,
                    "action": str(pending.action),
                    "file_groups": len(compaction_plan(state, pending).operations),
                }
                for pending in pending_compactions(state)
            ],
        },
        "bytes": decision.bytes_read,
        "files": [
            {
                "path": f"{operation.partition}/{operation.file_id}".lstrip("/"),
                "bytes": int(operation.metrics["TOTAL_IO_READ_MB"] * megabyte),
                "bytes_written": int(operation.metrics["TOTAL_IO_WRITE_MB"] * megabyte),
                "reason": f"{len(operation.log_files)} logs of {int(operation.metrics['TOTAL_LOG_FILES_SIZE']):,} bytes",
            }
            for operation in (plan.operations if plan else ())
        ],
    }

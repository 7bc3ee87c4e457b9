"""Procedures of compaction, and of the rollback of a begun plan."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hoodie.errors import SqlError
from hoodie.model.time import Time
from hoodie.services.clustering.unschedule import GiveUpClustering
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.compaction.unschedule import UnscheduleCompaction
from hoodie.services.rollback.service import Rollback
from hoodie.sql.procedures.plans import EXECUTE, named_in, operation_of, run_plans
from hoodie.sql.procedures.procedure import (
    FLAG,
    INT,
    LONG,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.timeline import Action, Instant, State
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState, compaction_plan

_PLAN = {"timestamp": TEXT, "operation_size": INT, "state": TEXT}


def _run(call: Call) -> Iterator[tuple[Any, ...]]:
    timestamp = call["timestamp"]
    operation = EXECUTE if timestamp is not None else operation_of(call, call["op"], "run")
    named = [str(timestamp)] if timestamp is not None else named_in(call["instants"])
    chosen = run_plans(call, COMPACTION, operation, named, call.options())
    after = call.table.state()
    for instant in reversed([i for i in after.timeline if i.time in chosen and _is_compaction(i)]):
        yield _row(after, instant)


def _show(call: Call) -> Iterator[tuple[Any, ...]]:
    state = call.state
    if not state.properties.is_merge_on_read:
        raise SqlError(f"Table {call.table.base_path} has no compactions", found="copy on write", fix="nothing to do")
    for instant in reversed([compaction for compaction in state.timeline if _is_compaction(compaction)]):
        yield _row(state, instant)


def _is_compaction(instant: Instant) -> bool:
    """A completed one is a commit, which a merge-on-read table has of nothing else."""
    return instant.action is (Action.COMMIT if instant.is_completed else Action.COMPACTION)


def _row(state: TableState, instant: Instant) -> tuple[str, int | None, str]:
    planned = replace(instant, action=Action.COMPACTION, state=State.REQUESTED)
    try:
        size: int | None = len(compaction_plan(state, planned).operations)
    except FileNotFoundError:
        size = None
    return str(instant.time), size, instant.state.name


def _rollback(call: Call) -> Iterator[tuple[str, str]]:
    instant, state = Time.of(call["pending_instant"]), call.state
    plans = (i for i in state.timeline.pending if i.time == instant and is_plan(state, i.time, i.action))
    pending_plan = next(plans, None)
    if pending_plan is None:
        raise SqlError(f"No compaction or clustering {instant:.100} waits", fix="CALL show_timeline lists the instants")
    start = time.monotonic()
    if not call["delete_request_instant_file"]:
        call.table.run(Rollback(instant), call.options())
    elif pending_plan.action is state.layout.clustering:
        call.table.run(GiveUpClustering(instant), call.options())
    else:
        call.table.run(UnscheduleCompaction(instant), call.options())
    yield str(instant), f"{(time.monotonic() - start) * 1000:.0f}ms"


REWRITES = (
    Procedure(
        "run_compaction",
        "Schedule a compaction if one is due, carry out those that wait, or both (run).",
        (
            Parameter("op", required=True),
            *TABLE_OR_PATH,
            Parameter("timestamp", LONG),
            Parameter("options"),
            Parameter("instants"),
            Parameter("limit", INT),
        ),
        columns(**_PLAN),
        _run,
        "run carries out all that wait, not only what it has scheduled",
    ),
    Procedure(
        "show_compaction",
        "Compactions, waiting and completed, the newest first.",
        (*TABLE_OR_PATH, limit(20)),
        columns(**_PLAN),
        _show,
    ),
    Procedure(
        "run_rollback_inflight_tableservice",
        "Take back what was begun of a compaction or clustering; delete_request_instant_file => true removes its plan, too.",
        (
            *TABLE_OR_PATH,
            Parameter("pending_instant", required=True),
            Parameter("delete_request_instant_file", FLAG, default=False),
        ),
        columns(instant=TEXT, time_cost=TEXT),
        _rollback,
        "a plan that was not begun is taken, too; in version 6 a compaction's plan stays once logs are written on top of it",
    ),
)

"""Procedures of clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hoodie.config import clustering_keys as keys
from hoodie.errors import SqlError
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.service import waiting
from hoodie.sql.procedures.procedure import (
    FLAG,
    INT,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.timeline import Action, Instant
from hoodie.view import TableState, clustering_plan

_SCHEDULE, _EXECUTE, _BOTH = "schedule", "execute", "scheduleandexecute"
_PLAN = {"timestamp": TEXT, "input_group_size": INT, "state": TEXT, "involved_partitions": TEXT}
_HIDDEN = "*"  # as Hudi has it where partitions are not asked for
_INVOLVED = Parameter("show_involved_partition", FLAG, default=False)


def _run(call: Call) -> Iterator[tuple[Any, ...]]:
    if call["predicate"] is not None:
        raise SqlError(
            "run_clustering takes no predicate here",
            found=str(call["predicate"])[:100],
            fix="name the partitions: selected_partitions => 'day=2026-01-01,day=2026-01-02'",
        )
    named = [each.strip() for each in (call["instants"] or "").split(",") if each.strip()]
    operation = _EXECUTE if named and call["op"] is None else (call["op"] or _BOTH).lower()
    if operation not in (_SCHEDULE, _EXECUTE, _BOTH):
        raise SqlError(f"run_clustering has no op {operation:.100}", fix=f"use {_SCHEDULE}, {_EXECUTE} or {_BOTH}")
    table = call.table
    options = call.options(
        {
            keys.SORT_COLUMNS.name: call["order"],
            keys.LAYOUT.name: call["order_strategy"],
            keys.PARTITION_SELECTED.name: call["selected_partitions"],
            keys.PARTITION_REGEX.name: call["partition_regex_pattern"],
        }
    )
    scheduled = table.schedule(CLUSTERING, options, force=True) if operation != _EXECUTE else None
    chosen = [i.time for i in waiting(table.state(), CLUSTERING) if not named or i.time in named]
    lacking = [each for each in named if each not in chosen]
    if lacking:
        raise SqlError(f"No clustering {lacking[0]:.100} waits", fix="CALL show_clustering lists those that do")
    if operation == _SCHEDULE:
        chosen = [each for each in chosen if each == scheduled]
    elif call["limit"] is not None:
        chosen = chosen[: call["limit"]]
    if operation != _SCHEDULE:
        for each in chosen:
            table.run(CLUSTERING, options, time=each)
    after = table.state()
    yield from (_row(call, after, i) for i in reversed(list(after.timeline)) if i.time in chosen)


def _show(call: Call) -> Iterator[tuple[Any, ...]]:
    state = call.state
    for instant in reversed([each for each in state.timeline if each.action in _ACTIONS]):
        row = _row(call, state, instant)
        if row[1] is not None or _is_clustering(state, instant):
            yield row


_ACTIONS = (Action.CLUSTERING, Action.REPLACE_COMMIT)


def _is_clustering(state: TableState, instant: Instant) -> bool:
    """Of what replaces file groups; one whose request is archived is told by its commit."""
    return instant.is_completed and state.commit_metadata(instant).operation == "CLUSTER"


def _row(call: Call, state: TableState, instant: Instant) -> tuple[str, int | None, str, str | None]:
    """Counts are null where the plan is no more: an overwrite has none, and of an old one only the commit may be left."""
    plan = clustering_plan(state, replace(instant, action=state.layout.clustering))
    count = None if plan is None else len(plan.inputs)
    parts: str | None = _HIDDEN
    if call["show_involved_partition"]:
        parts = None if plan is None else ",".join(sorted(plan.partitions))
    return str(instant.time), count, instant.state.name, parts


CLUSTERINGS = (
    Procedure(
        "run_clustering",
        "Schedule a clustering, carry out those that wait, or both.",
        (
            *TABLE_OR_PATH,
            Parameter("predicate"),
            Parameter("order"),
            _INVOLVED,
            Parameter("op"),
            Parameter("order_strategy"),
            Parameter("options"),
            Parameter("instants"),
            Parameter("selected_partitions"),
            Parameter("partition_regex_pattern"),
            Parameter("limit", INT),
        ),
        columns(**_PLAN),
        _run,
        "predicate is refused: selected_partitions names the partitions",
    ),
    Procedure(
        "show_clustering",
        "Clusterings, waiting and completed, the newest first.",
        (*TABLE_OR_PATH, limit(20), _INVOLVED),
        columns(**_PLAN),
        _show,
    ),
)

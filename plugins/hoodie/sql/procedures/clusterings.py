"""Procedures of clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hoodie.config.keys import clustering as keys
from hoodie.display import some
from hoodie.errors import SqlError
from hoodie.services.clustering.service import CLUSTERING
from hoodie.sql.procedures.plans import BOTH, EXECUTE, named_in, operation_of, run_plans
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
    _check_partitions(call)
    named = named_in(call["instants"])
    operation = operation_of(call, call["op"] or (EXECUTE if named else BOTH))
    options = {
        keys.SORT_COLUMNS.name: call["order"],
        keys.LAYOUT.name: call["order_strategy"],
        keys.PARTITION_SELECTED.name: call["selected_partitions"],
        keys.PARTITION_REGEX.name: call["partition_regex_pattern"],
    }
    chosen = run_plans(call, CLUSTERING, operation, named, call.options(options), force=True)
    after = call.table.state()
    yield from (_row(call, after, i) for i in reversed(list(after.timeline)) if i.time in chosen)


def _check_partitions(call: Call) -> None:
    """Raises SqlError for a named partition that the table does not have: it would be left out without a word."""
    if call["selected_partitions"] is None:
        return
    names = {name.strip() for name in call["selected_partitions"].split(",")}
    if missing := sorted(names.difference(call.table.state().files.partitions())):
        raise SqlError(
            f"Table {call.table.properties.name} has no partition {some(missing) if missing != [''] else 'without a name'}",
            found="selected_partitions names it",
            fix="name partitions by their paths, as `show partitions` lists them",
        )


def _show(call: Call) -> Iterator[tuple[Any, ...]]:
    state = call.state
    for instant in reversed([clustering for clustering in state.timeline if clustering.action in _ACTIONS]):
        row = _row(call, state, instant)
        if row[1] is not None or _is_clustering(state, instant):
            yield row


_ACTIONS = (Action.CLUSTERING, Action.REPLACE_COMMIT)


def _is_clustering(state: TableState, instant: Instant) -> bool:
    """Return whether it is a clustering among other replacements of file groups; if its request is archived, its commit shows
    it."""
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

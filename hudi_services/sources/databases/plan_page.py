"""The plan of a server as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hoodie.times import span
from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.mysql.snapshot_estimate import snapshot_seconds
from hudi_services.sources.cdc.mysql.table_load import SESSIONS
from hudi_services.sources.databases.expressions import ColumnExpressions
from hudi_services.sources.databases.plan import Route
from hudi_services.sources.databases.planner import CurrentPlan


def document(current: CurrentPlan) -> dict[str, Any]:
    """Return the plan as JSON: routes, refused tables, rules without a table, warnings, an estimate of what a run has to do."""
    plan = current.plan
    rows, size = (sum(getattr(table, name) for table in plan.snapshots) for name in ("rows", "size"))
    seconds = snapshot_seconds(rows, size)
    return {
        "routes": [_route(route, current) for route in plan.routes],
        "refused": [
            {
                "source": refusal.source,
                "base_path": refusal.base_path,
                "kind": refusal.kind,
                "reason": refusal.reason,
                "fix": refusal.fix,
            }
            for refusal in plan.refusals
        ],
        "unmatched": [rule.shown for rule in plan.unmatched],
        "warnings": list(warnings(current)),
        "preflight": [asdict(requirement) for requirement in current.preflight],
        "estimate": {
            "tables": len(plan.snapshots),
            "rows": rows,
            "bytes": size,
            "seconds": round(seconds, 1),
            "retention_seconds": current.retention,
            "connections": 1 + SESSIONS if plan.snapshots else 2,
        },
    }


def warnings(current: CurrentPlan) -> Iterator[str]:
    """Yield a line for each column whose expression reads one that is dropped: a part of its values reaches the lake."""
    rules = {(route.rule.shown, route.rule.base_path): route.rule for route in current.plan.routes}
    for rule in rules.values():
        yield from _dropped_inputs(rule)


def _dropped_inputs(rule: DatabaseRule) -> Iterator[str]:
    dropped = {name.lower(): name for name, mask in rule.masks.items() if mask == "drop"}
    inputs = ColumnExpressions(rule.add_columns).inputs if dropped else {}
    for name, names in inputs.items():
        for column in sorted(names & dropped.keys()):
            yield (
                f"The rule {rule.shown} drops the column {dropped[column]}, and the expression of {name} reads it: "
                f"{rule.add_columns[name]:.200}. The lake gets what it computes"
            )


def problems(current: CurrentPlan) -> Iterator[str]:
    """Yield a line for each refused table, each rule without a table and each requirement that is missing.

    The last line says that the log may be gone too early.
    """
    for refusal in current.plan.refusals:
        yield f"{refusal.source} is refused: {refusal.reason}. {refusal.fix}"
    for rule in current.plan.unmatched:
        yield f"No table matches the rule {rule.shown}. Correct its regular expressions"
    for requirement in current.preflight:
        if requirement.state == "missing":
            yield f"A run needs {requirement.name}: {requirement.found}. {requirement.fix}"
    estimate = document(current)["estimate"]
    if current.retention and current.retention < 4 * estimate["seconds"]:
        yield (
            f"The server keeps its log for {span(current.retention)}, and the snapshots take about {span(estimate['seconds'])}. "
            f"SET GLOBAL binlog_expire_logs_seconds = {int(8 * estimate['seconds']) + 1}"
        )


def _route(route: Route, current: CurrentPlan) -> dict[str, Any]:
    names = [source.full_name for source in route.sources]
    return {
        "sources": names,
        "base_path": route.base_path,
        "state": "new" if any(name in current.plan.added for name in names) else "runs",
        "key": list(route.key),
        "columns": {field.name: str(field.type) for field in route.schema},
        "rows": sum(source.rows for source in route.sources),
        "bytes": sum(source.size for source in route.sources),
    }

"""All rules, applied to the facts of a table: pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hudi_services.operations.advice.facts import TableFacts
from hudi_services.operations.advice.model import Advice, by_severity
from hudi_services.operations.advice.rules import blockers, damage, layout, loss, registry, services
from hudi_services.operations.advice.rules.objectives import objectives

Rule = Callable[[TableFacts], Iterator[Advice]]

RULES: tuple[Rule, ...] = (
    damage.unreadable,
    damage.damages,
    damage.leftovers,
    loss.consumers,
    loss.quarantine,
    loss.changed_files,
    loss.broken_files,
    loss.idle_patterns,
    loss.checks,
    services.last_runs,
    objectives,
    blockers.paused,
    blockers.plans,
    blockers.writes,
    blockers.savepoints,
    blockers.purges,
    blockers.locks,
    services.due,
    services.new_files,
    registry.warnings,
    layout.skewed,
    layout.tiny,
)


def advise(facts: TableFacts) -> tuple[Advice, ...]:
    """The advice on a table, the gravest first. It is empty only if nothing is damaged, missed, blocked, due or waits."""
    return by_severity(advice for rule in RULES for advice in rule(facts))

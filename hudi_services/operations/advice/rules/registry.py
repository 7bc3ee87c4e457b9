"""Mistakes of a registry, and warnings about its tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from hudi_services.operations.advice.facts import TableFacts
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.registry.mistakes import Mistake, sharers

WARNING = "The registry has a warning: "
"""How the advice on such a setting begins."""


def warnings(facts: TableFacts) -> Iterator[Advice]:
    """Settings in the table's entry that are probably not meant."""
    for warning in facts.warnings:
        yield Advice(
            facts.table,
            Severity.DUE,
            "warning",
            warning,
            f"{WARNING}{warning.rstrip('.')}",
            fix=f"hudi-services registry check{f' {shlex.quote(file)}' if (file := facts.target.registry) else ''}",
        )


def mistake(wrong: Mistake, tables: Sequence[str], registry: str) -> Advice:
    """A mistake that keeps tables, or a part of the registry, out."""
    return Advice(
        wrong.table or registry,
        Severity.FAILED,
        "mistake",
        str(wrong),
        f"The registry has a mistake: {wrong.file}:{wrong.line}: {wrong.key}: {wrong.message.rstrip('.')}{sharers(tables)}",
        fix=f"hudi-services registry check {shlex.quote(registry)}",
        waits=f"No service runs on the {'tables' if len(tables) > 1 else 'table'} until the registry is right."
        if tables
        else "",
    )

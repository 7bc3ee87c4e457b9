"""Findings of the doctor as facts, those of one check together: pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from hoodie.doctor.catalogue import CHECKS
from hoodie.doctor.finding import Finding, Severity
from hudi_services.operations.advice.facts import Damage


def damages_of(findings: Iterable[Finding]) -> tuple[Damage, ...]:
    """A damage for each check, with its first finding as the example. Notes are left out."""
    by_check: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.severity is not Severity.NOTE:
            by_check[finding.check].append(finding)
    return tuple(_damage(check, of_check) for check, of_check in by_check.items())


def as_values(damages: Iterable[Damage]) -> list[dict[str, Any]]:
    """Findings of now, as a snapshot keeps them."""
    return [{name: value for name, value in asdict(damage).items() if name != "looked_at"} for damage in damages]


def of_values(rows: Iterable[Mapping[str, Any]]) -> tuple[Damage, ...]:
    return tuple(Damage(**row) for row in rows)


def _damage(check: str, findings: list[Finding]) -> Damage:
    first = findings[0]
    where = first.path or first.instant
    return Damage(
        check,
        f"{first.what}{f' ({where})' if where else ''}",
        first.remedy,
        CHECKS[check].fixed if check in CHECKS else False,
        first.severity is Severity.DAMAGE,
        len(findings),
        sum(finding.bytes for finding in findings),
        detail=first.found or "",
    )

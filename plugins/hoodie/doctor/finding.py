"""Finding of a check, and the report of a table's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from hoodie.display import Shown, Shows, counted


class Severity(StrEnum):
    NOTE = "note"
    """Worth knowing; the table is well."""
    WARNING = "warning"
    """Rows are right; something is left behind, grows, or waits."""
    DAMAGE = "damage"
    """Rows are lost or wrong, or the table cannot be read or changed."""


_ORDER = tuple(Severity)


@dataclass(frozen=True)
class Finding:
    """One thing that a check found. `path` is relative to the table; `bytes` are those of the file or files."""

    check: str
    severity: Severity
    what: str
    remedy: str
    found: str | None = None
    path: str | None = None
    instant: str | None = None
    bytes: int = 0

    def __str__(self) -> str:
        result = f": {self.found}" if self.found else ""
        return f"{self.what}{result}. To do: {self.remedy}"

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Diagnosis(Shows):
    """The findings of a table, the worst first, and what was looked at (counts, sizes in bytes)."""

    base_path: str
    findings: tuple[Finding, ...]
    facts: Mapping[str, Any]

    @property
    def severity(self) -> Severity | None:
        """The worst of them; None without findings."""
        return max((finding.severity for finding in self.findings), key=_ORDER.index, default=None)

    def of(self, check: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.check == check)

    def shown(self) -> Shown:
        rows = [
            (finding.severity, finding.check, finding.path or finding.instant, finding.what)
            for finding in self.findings
        ]
        line = f"Diagnosis of {self.base_path}: {summary(self.findings)}"
        return Shown(line, list(self.facts.items()), ("severity", "check", "where", "what"), rows)

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "base_path": self.base_path,
            "severity": self.severity,
            "findings": [finding.as_dict() for finding in self.findings],
            **self.facts,
        }


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """In the order of severity, then as they were found."""
    return tuple(sorted(findings, key=lambda finding: -_ORDER.index(finding.severity)))


def summary(findings: Sequence[Finding]) -> str:
    """`2 damages, 1 warning`, or `healthy`."""
    counts = [(severity, sum(finding.severity is severity for finding in findings)) for severity in reversed(_ORDER)]
    return ", ".join(counted(number, str(severity)) for severity, number in counts if number) or "healthy"

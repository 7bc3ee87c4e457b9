"""The findings of a round, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hoodie.display import counted
from hoodie.doctor.catalogue import UNSEEN
from hoodie.doctor.finding import Finding, Severity, summary
from hudi_services.entry.target import Target
from hudi_services.operations.doctor.rounds import TableDiagnosis
from hudi_services.runtime.result import DONE

_SHOWN = 200  # findings of a table
WARNED, DAMAGED = 1, 2  # exit codes


def exit_code(diagnoses: Sequence[TableDiagnosis]) -> int:
    """0: healthy, notes at most; 1: warnings; 2: damage, or a table that could not be looked at."""
    worst = {table.diagnosis.severity for table in diagnoses}
    unseen = any(finding.check in UNSEEN for table in diagnoses for finding in table.diagnosis.findings)
    return DAMAGED if unseen or Severity.DAMAGE in worst else WARNED if Severity.WARNING in worst else DONE


def as_dict(diagnoses: Sequence[TableDiagnosis]) -> dict[str, Any]:
    """The findings as values for programs."""
    return {"exit_code": exit_code(diagnoses), "tables": [table.as_dict() for table in diagnoses]}


def as_findings(diagnoses: Sequence[TableDiagnosis]) -> dict[str, Any]:
    """The findings for programs that cannot take all: counts, and one list of findings with their tables, the worst
    first."""
    findings = [
        {"table": table.name, **finding.as_dict()}
        for severity in reversed(Severity)
        for table in diagnoses
        for finding in table.diagnosis.findings
        if finding.severity is severity
    ]
    return {
        "exit_code": exit_code(diagnoses),
        "message": as_text(diagnoses).rpartition("\n")[2],
        "tables": len(diagnoses),
        "healthy": sum(not table.diagnosis.findings for table in diagnoses),
        "findings": findings,
    }


def as_text(diagnoses: Sequence[TableDiagnosis], registry: str | None = None) -> str:
    """A block a table that something is wrong with, the healthy ones in one line. Commands name their table, and `registry` if
    they have to."""
    ill = [table for table in diagnoses if table.diagnosis.findings]
    lines = [line for table in ill for line in _block(table, registry)]
    if len(diagnoses) > 1 or not ill:
        well = len(diagnoses) - len(ill)
        healthy = f"{counted(well, 'table')} healthy" if len(diagnoses) > 1 else f"{diagnoses[0].name}: healthy"
        all_found = summary([finding for table in diagnoses for finding in table.diagnosis.findings])
        lines.append(f"{healthy}, {len(ill)} not: {all_found}" if ill else healthy)
    return "\n".join(lines)


def _block(table_diagnosis: TableDiagnosis, registry: str | None) -> Iterator[str]:
    findings = table_diagnosis.diagnosis.findings
    path = table_diagnosis.diagnosis.base_path
    name = table_diagnosis.name
    target = Target.of(path, None if name == path else name, registry, loads=table_diagnosis.loads)
    yield f"{table_diagnosis.name}: {summary(findings)}  ({path})"
    for finding in findings[:_SHOWN]:
        yield from _finding(finding, target)
    if len(findings) > _SHOWN:
        yield f"  … and {len(findings) - _SHOWN:,} more (--json shows all)"


def _finding(finding: Finding, target: Target) -> Iterator[str]:
    yield f"  {finding.severity.upper():<7} {finding.check}: {_line(finding.what)}"
    size = f"{finding.bytes:,} bytes" if finding.bytes else ""
    where = [part for part in (finding.path, size, finding.found) if part]
    if where:
        yield f"          {_line('; '.join(where))}"
    commands, remedy = target.commands(finding.remedy), target.with_commands(finding.remedy)
    yield f"          to do: {_line(target.in_words(remedy, commands))}"
    yield from (f"          {_printable(line)}" for line in target.command_lines(remedy, commands))


def _line(text: str) -> str:
    """Names and bodies may be of anybody: on one line, without what moves a terminal's cursor."""
    return _printable(" ".join(text.split()))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)

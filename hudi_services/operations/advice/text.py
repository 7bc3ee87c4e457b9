"""Advice as people read it in a terminal: lines that fit its width, and commands on one line, so that they can be pasted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from hoodie.display import counted
from hudi_services.entry.target import Target
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.operations.advice.rounds import Advised
from hudi_services.runtime.text_table import wrapped

_INDENT = "  "
_KIND = max(len(severity) for severity in Severity)  # characters of the longest severity


def as_text(advised: Sequence[Advised], now: datetime, width: int) -> str:
    """A block for each table that has advice, the others in one line, then the sum. `width` is in characters."""
    lines: list[str] = []
    for table_advice in advised:
        if table_advice.advice:
            lines += [
                *_wrapped(f"{table_advice.name}: {summary(table_advice.advice)}", width, ""),
                *block(table_advice.advice, now, width),
                "",
            ]
    idle = [table_advice for table_advice in advised if not table_advice.advice]
    if idle:
        names = ", ".join(table_advice.name for table_advice in idle)
        lines += _wrapped(f"Nothing to do: {names}.", width, "")
        lines += _wrapped(f"Looked at: {looked(idle)}.", width, "")
    return "\n".join(lines).rstrip()


def block(advice: Sequence[Advice], now: datetime, width: int) -> Iterator[str]:
    """The lines of some advice."""
    for item in advice:
        indent = " " * (len(_INDENT) + _KIND + 2)
        first, *rest = wrapped(_line(item.sentence(now)), width - len(indent))
        yield f"{_INDENT}{item.severity.upper():<{_KIND}}  {first}"
        yield from (f"{indent}{line}" for line in rest)
        pasted = item.commands if item.fix in item.commands or not item.fix else (item.fix, *item.commands)
        remedy = Target.in_words(item.remedy, pasted)
        more = " ".join(filter(None, [str(item.effect) if item.effect is not None else "", remedy, item.waits]))
        yield from _wrapped(_line(more), width, indent)
        yield from (f"{indent}{line}" for line in Target.command_lines(item.remedy, pasted))


def nothing(looked_at: Sequence[str], width: int) -> list[str]:
    """The lines about a table without advice."""
    return _wrapped(f"Nothing to do. Looked at: {', '.join(looked_at)}.", width, _INDENT)


def summary(advice: Sequence[Advice]) -> str:
    """`1 damage, 2 due`."""
    counts = Counter(item.severity for item in advice)
    return ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])


def looked(advised: Sequence[Advised]) -> str:
    """The parts that were looked at of all tables, in words."""
    common = [part for part in advised[0].looked if all(part in table_advice.looked for table_advice in advised)]
    return ", ".join(common) or counted(len(advised), "table")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return [f"{indent}{line}" for line in wrapped(text, width - len(indent)) if line]


def _line(text: str) -> str:
    return " ".join(text.split())

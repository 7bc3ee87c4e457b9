"""Verdicts on objectives as programs and people read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hoodie.times import span
from hudi_services.operations.inspect.page import Column
from hudi_services.operations.inspect.text import moment
from hudi_services.operations.objectives.verdict import Verdict

COLUMNS = (
    Column("objective", "objective"),
    Column("verdict", "verdict"),
    Column("is", "is", right=True),
    Column("at_most", "at most", right=True),
    Column("since", "missed since (UTC)", moment),
    Column("mends", "restored by"),
)


def verdict_rows(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """JSON of each: `value` and `limit` in `unit`, `since` as ISO."""
    return [
        {
            "objective": verdict.objective,
            "met": verdict.is_met,
            "value": verdict.value,
            "limit": verdict.limit,
            "unit": verdict.unit,
            "since": verdict.since.isoformat() if verdict.since is not None else None,
            "urgency": verdict.urgency,
            "service": verdict.service,
        }
        for verdict in verdicts
    ]


def in_words(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the texts that the columns show."""
    return {
        **row,
        "verdict": "met" if row["met"] else "MISSED",
        "is": _amount(row["value"], row["unit"]),
        "at_most": _amount(row["limit"], row["unit"]),
        "mends": "" if row["met"] else row["service"],
    }


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "nothing yet"
    if unit == "seconds":
        return span(value)
    if unit == "of all":
        return f"{value:.0%} of all"
    return f"{value:.3g}" if unit == "bytes per byte" else f"{value:,.0f}"

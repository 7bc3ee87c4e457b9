"""The day summed up: when it is due, and what it says. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

import pendulum

from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.message import one_line
from hudi_services.operations.watch.model import Summary

_LINES = 30  # troubles of a text


def digest_day(at: time, zone: str, now: datetime) -> date:
    """The day of the newest digest that there could be by now: today from that hour on, by a clock of the zone."""
    local = pendulum.instance(now).in_timezone(zone)
    return local.date() if local.time() >= at else local.date().subtract(days=1)


def digest_values(day: date, fleet: Iterable[Summary], troubles: Sequence[Trouble], now: datetime) -> dict[str, Any]:
    """The number of tables of each health, and all current troubles."""
    tables = Counter(summary.health for summary in fleet)
    counted = ", ".join(f"{number} {health}" for health, number in tables.most_common()) or "none"
    lines = [f"{day}: tables: {counted}; {len(troubles) or 'no'} troubles"]
    lines += [one_line(f"{trouble.table}: {trouble.text}") for trouble in troubles[:_LINES]]
    if (more := len(troubles) - _LINES) > 0:
        lines.append(f"and {more} more: hudi-services alerts")
    rows = [
        {
            "table": trouble.table,
            "kind": trouble.kind,
            "what": trouble.what,
            "text": trouble.text,
            "since": trouble.since.isoformat() if trouble.since is not None else None,
        }
        for trouble in troubles
    ]
    return {
        "id": f"digest {day}",
        "kind": "digest",
        "at": now.isoformat(),
        "day": day.isoformat(),
        "tables": dict(tables),
        "standing": rows,
        "text": "\n".join(lines),
    }

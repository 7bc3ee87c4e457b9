"""The `judge` section of a registry. The judge starts the services that are scheduled by objectives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Annotated

from pydantic import AfterValidator, Field

from hudi_services.entry.dag import DAG_PREFIX
from hudi_services.entry.feed.model import Texts
from hudi_services.entry.rounds import Rounds

JUDGE_DAG = f"{DAG_PREFIX}_objectives"
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def _hours(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        match = _HOURS.fullmatch(value)
        if match is None or match.group(1, 2) == match.group(3, 4):
            raise ValueError(f"{value!r} are no hours; write '22:00-06:00', UTC")
    return values


class Judge(Rounds):
    """The hours of the day (UTC) in which the judge starts nothing (`quiet`), and the most services that one run starts
    (`most`)."""

    quiet: Annotated[Texts, AfterValidator(_hours)] = ()
    most: Annotated[int, Field(ge=1)] = 8


def is_quiet(hours: Iterable[str], now: datetime) -> bool:
    """True if a moment is in one of these hours. Their end is exclusive, and they may pass midnight."""
    moment = now.astimezone(UTC).time()
    for hour in hours:
        first, last = (time.fromisoformat(part) for part in hour.split("-"))
        inside = first <= moment < last if first < last else moment >= first or moment < last
        if inside:
            return True
    return False

"""Causes of decisions as values: what was measured beside its limit, and sentences where nothing was. `stage_text` derives what
people read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Measure:
    """A measured value beside its limit, both in `unit` (the noun of one, `s`, or `share` from 0 to 1). `option` is the key that
    sets the limit."""

    value: float
    limit: float
    unit: str
    option: str

    @property
    def reached(self) -> bool:
        """True at the limit and past it."""
        return self.value >= self.limit


@dataclass(frozen=True)
class Trigger:
    """The values measured since the last run of a service, which decide whether it is due. `rule` is the option that says which
    of the measures count; empty where there is one."""

    measures: tuple[Measure, ...]
    last: str
    rule: str = ""


@dataclass(frozen=True)
class TimelineLength:
    """The completed commits on the timeline, and the number that is archived from, stays when others are archived, or is
    retained by a clean."""

    commits: Measure
    rule: Literal["archived from", "stay", "retained"]


Cause = Trigger | TimelineLength | str
"""Why a service would do something, or nothing. A sentence where nothing was measured against a limit."""

Reason = Cause | tuple[Cause, ...]
"""One cause or several, the most important first."""


def causes_of(reason: Reason) -> tuple[Cause, ...]:
    """The causes of a reason."""
    return reason if isinstance(reason, tuple) else (reason,)


def measures_of(reason: Reason) -> Iterator[Measure]:
    """The values of a reason that were measured against a limit."""
    for cause in causes_of(reason):
        match cause:
            case Trigger(measures):
                yield from measures
            case TimelineLength(commits):
                yield commits

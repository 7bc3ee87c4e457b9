"""Judges facts by objectives: pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hudi_services.entry.objectives import RESTORED_BY, Objectives
from hudi_services.operations.objectives.facts import Facts

MOST = 1000.0
"""The greatest urgency: so of what has no value at all."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on an objective of a table. `value` and `limit` are in `unit`: seconds, bytes per byte, files, of
    all, instants.

    `value` is None where there is none yet. `since` is when the objective began to be missed, as far as what is still
    there shows. `urgency` is how many times the limit the value is; above 1 it is missed. `service` restores it.
    """

    objective: str
    is_met: bool
    value: float | None
    limit: float
    unit: str
    since: datetime | None
    urgency: float
    service: str


def judge(objectives: Objectives, facts: Facts) -> tuple[Verdict, ...]:
    """A verdict for each objective that is wanted and of which there are facts, the most urgent first."""
    verdicts = [verdict for name, limit in objectives if limit is not None and (verdict := _JUDGES[name](limit, facts))]
    return by_urgency(verdicts)


def turns(objectives: Objectives, facts: Facts) -> datetime | None:
    """The time at which the first objective that is met now is missed if nothing happens; None: time alone makes no
    objective missed."""
    limits = ((facts.last_data, objectives.freshness), (facts.waits, objectives.clean_age))
    ends = [_until_now(since, facts) + limit for since, limit in limits if since is not None and limit is not None]
    return min((end for end in ends if end >= facts.now), default=None)


def by_urgency(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    return tuple(sorted(verdicts, key=lambda verdict: (-verdict.urgency, verdict.objective)))


def _freshness(limit: timedelta, facts: Facts) -> Verdict:
    if facts.last_data is None:
        return _verdict("freshness", None, limit.total_seconds(), "seconds", None)
    last_data = _until_now(facts.last_data, facts)
    age = (facts.now - last_data).total_seconds()
    return _verdict("freshness", age, limit.total_seconds(), "seconds", last_data + limit)


def _until_now(moment: datetime, facts: Facts) -> datetime:
    """The moment, at the latest now: a commit dated ahead is of a wrong clock, which the problems of the table name."""
    return min(moment, facts.now)


def _log_ratio(limit: float, facts: Facts) -> Verdict | None:
    if facts.logs is None:
        return None
    base = max(facts.base_bytes, 1)
    return _verdict("log_ratio", facts.logs.amount / base, limit, "bytes per byte", facts.logs.passed(limit * base))


def _small_files(limit: float, facts: Facts) -> Verdict | None:
    if facts.small is None:
        return None
    if 0 < limit < 1:
        files = max(facts.base_files, 1)
        return _verdict("small_files", facts.small.amount / files, limit, "of all", facts.small.passed(limit * files))
    return _verdict("small_files", facts.small.amount, limit, "files", facts.small.passed(limit))


def _clean_age(limit: timedelta, facts: Facts) -> Verdict:
    waits = _until_now(facts.waits or facts.now, facts)
    return _verdict("clean_age", (facts.now - waits).total_seconds(), limit.total_seconds(), "seconds", waits + limit)


def _timeline_length(limit: int, facts: Facts) -> Verdict:
    return _verdict("timeline_length", facts.instants.amount, limit, "instants", facts.instants.passed(limit))


_JUDGES: dict[str, Callable[[Any, Facts], Verdict | None]] = {
    "freshness": _freshness,
    "log_ratio": _log_ratio,
    "small_files": _small_files,
    "clean_age": _clean_age,
    "timeline_length": _timeline_length,
}


def _verdict(name: str, value: float | None, limit: float, unit: str, since: datetime | None) -> Verdict:
    is_met = value is not None and value <= limit
    urgency = MOST if value is None else min(_times(value, limit), MOST)
    rounded = round(value, 3) if value is not None else None
    return Verdict(name, is_met, rounded, limit, unit, None if is_met else since, round(urgency, 3), RESTORED_BY[name])


def _times(value: float, limit: float) -> float:
    if limit:
        return value / limit
    return value + 1 if value else 0.0

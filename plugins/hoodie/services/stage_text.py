"""Decisions for people: the sentences of causes, limits and stages, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from hoodie.display import counted
from hoodie.services.stages import Cause, Measure, Reason, TimelineLength, Trigger, causes_of


def reason_text(reason: Reason) -> str:
    """The causes in one line."""
    return "; ".join(map(_cause, causes_of(reason)))


def cap_texts(over: Iterable[Measure], of_bytes: int) -> Iterator[str]:
    """A line a cap that a plan is past; `of_bytes` are the bytes of the table's data files."""
    for cap in over:
        if cap.unit == "share":
            share = f"{cap.value:.1%} of the table's {of_bytes:,} bytes"
            yield f"{share}, where {cap.option} is {cap.limit:.1%}"
        else:
            yield f"{counted(int(cap.value), cap.unit)}, where {cap.option} is {cap.limit:,}"


def _cause(cause: Cause) -> str:
    match cause:
        case str():
            return cause
        case Trigger(measures, last, rule):
            values = " and ".join(_of_limit(measure, named=not rule) for measure in measures)
            return f"{values} since the last {last}{f' ({rule})' if rule else ''}"
        case TimelineLength(commits, rule):
            return f"{_value(commits)} on the timeline, and {_stays(int(commits.limit), rule)}"
        case _:
            assert_never(cause)


def _stays(limit: int, rule: str) -> str:
    match rule:
        case "archived from":
            return f"it is archived from {limit} on"
        case "stay":
            return f"the last {limit} stay"
        case _:
            return f"{limit} {'is' if limit == 1 else 'are'} retained"


def _of_limit(measure: Measure, *, named: bool) -> str:
    return f"{_value(measure)} (of {measure.limit:,}{f', {measure.option}' if named else ''})"


def _value(measure: Measure) -> str:
    return f"{measure.value:,} s" if measure.unit == "s" else counted(int(measure.value), measure.unit)

"""Parts of a decision, as values: why it was made, and its stages. `stage_text` and `stage_json` derive what people and programs
read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


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


@dataclass(frozen=True)
class Item:
    """A file or file group of a plan: where, size in bytes, why; `facts` are more of it, for programs. `parts` are what it
    consists of, where the path does not say so."""

    path: str
    bytes: int
    reason: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[str] = ()


def _itself(item: Item) -> Item:
    return item


@dataclass(frozen=True)
class Items:
    """Items that a plan touches, in order. `verb` is the action on them, `noun` the name of one; `bytes` is their sum. `how` has
    more of the plan, such as the columns that rows are sorted by.

    `planned` are what the plan holds, and `item` describes one of them when it is printed: a plan of millions is not written out
    a second time for those who only carry it out.
    """

    verb: str
    planned: Sequence[Any]
    bytes: int
    noun: str = "file"
    item: Callable[[Any], Item] = _itself
    how: str = ""

    def __len__(self) -> int:
        return len(self.planned)

    def __iter__(self) -> Iterator[Item]:
        return map(self.item, self.planned)

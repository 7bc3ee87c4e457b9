"""The page of a look at a table: values for programs, and how people read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hudi_services.entry.target import Target
from hudi_services.operations.inspect.text import plain

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a listing: the field of its rows, its header, and the words for a value.

    In a narrow terminal columns of the highest `rank` are left out first, of equal ranks the rightmost. The first column
    and those of rank 0 stay. `wraps`: the words are sentences, which may take several lines.
    """

    field: str
    header: str
    words: Callable[[Any], str] = plain
    right: bool = False
    rank: int = 1
    wraps: bool = False


@dataclass(frozen=True)
class Facts:
    """Names and what holds for them."""

    lines: Sequence[tuple[str, str]]
    title: str = ""


@dataclass(frozen=True)
class Listing:
    """Rows with the same fields; `empty` is shown if there are no rows, unless it is empty itself."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    title: str = ""
    empty: str = ""


@dataclass(frozen=True)
class Bars:
    """A histogram: label, count, and words that follow."""

    bars: Sequence[tuple[str, int, str]]
    title: str = ""


@dataclass(frozen=True)
class Lines:
    """Text as it is. With `whole` its lines are never broken: they have commands that a user pastes."""

    lines: Sequence[str]
    title: str = ""
    alarming: bool = False
    whole: bool = False


Part = Facts | Listing | Bars | Lines


@dataclass(frozen=True)
class Page:
    """`values` are JSON; `parts` say the same to people. With problems the exit code is 1."""

    values: Any
    parts: Sequence[Part]
    problems: Sequence[str] = ()


def with_commands(page: Page, target: Target) -> Page:
    """The page, in which the commands of lines name the table."""
    parts = [
        replace(part, lines=[target.with_commands(line) for line in part.lines]) if isinstance(part, Lines) else part
        for part in page.parts
    ]
    return replace(page, parts=parts)

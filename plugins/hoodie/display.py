"""How values show themselves to people: a line, facts and a table, as text and as HTML for notebooks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys instead of printing: control codes, and marks that reverse the direction of text."""


@dataclass(frozen=True)
class Shown:
    """Display of a value. `facts` are names and values; each of `rows` has a cell for each of `columns`."""

    line: str
    facts: Sequence[tuple[str, object]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()

    def as_text(self) -> str:
        """The line, and the table below it, without control codes."""
        if not self.rows:
            return printable(self.line)
        cells = [list(self.columns), *([_cell(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        numbers = [all(isinstance(row[place], int) for row in self.rows) for place in range(len(widths))]
        lines = [
            "  ".join(_aligned(*cell) for cell in zip(row, widths, numbers, strict=True)).rstrip() for row in cells
        ]
        return "\n".join([printable(self.line), *lines])

    def as_html(self) -> str:
        """All of it. Text of a table, a path or a user is escaped."""
        parts = [f"<strong>{escape(self.line)}</strong>"]
        if self.facts:
            parts.append(_table(([f"<th>{escape(name)}</th>", _data(value)] for name, value in self.facts)))
        if self.rows:
            head = [f"<th>{escape(name)}</th>" for name in self.columns]
            parts.append(_table([head, *([_data(value) for value in row] for row in self.rows)]))
        return f"<div>{''.join(parts)}</div>"


class Shows(ABC):
    """Value with a display: its `repr` is the line that sums it up, notebooks show all."""

    @abstractmethod
    def shown(self) -> Shown:
        """The display."""

    def __repr__(self) -> str:
        return printable(self.shown().line)

    def _repr_html_(self) -> str:
        return self.shown().as_html()


def printable(text: str, *, cell: bool = False) -> str:
    """Return the text with control codes as JSON writes them (`\\u001b`), so that JSON stays valid and terminals print them.

    Line breaks and tabs stay, except in the `cell` of a table.
    """
    if cell:
        text = text.replace("\n", "\\n").replace("\t", "\\t")
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(content: bytes, most: int) -> str:
    """Content of a file, for an error: its first `most` characters, white space as single blanks."""
    return " ".join(content.decode(errors="replace").split())[:most]


def counted(count: int, noun: str) -> str:
    """`1 file`, `1,200 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size_of(count: float) -> str:
    """Return a number of bytes as `43.1 MiB`: units of 1,024, three or four digits.

    Every text with a rounded size uses it. Exact sizes are written in bytes.
    """
    if abs(count) < 1024:
        return counted(round(count), "byte")
    count, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB", "PiB"):
        if abs(count) < 1024:
            break
        count, unit = count / 1024, larger
    return f"{count:.0f} {unit}" if abs(count) >= 100 else f"{count:.1f} {unit}"


def some(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def nearest_first(name: str, names: Iterable[str]) -> list[str]:
    """The names, those that resemble `name` most first."""
    return sorted(names, key=lambda other: -SequenceMatcher(None, name.lower(), other.lower()).ratio())


def _cell(value: object) -> str:
    text = (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else "" if value is None else str(value)
    )
    return printable(text.replace("\n", " "), cell=True)


def _aligned(text: str, width: int, number: bool) -> str:
    return text.rjust(width) if number else text.ljust(width)


def _data(value: object) -> str:
    side = ' style="text-align: right"' if isinstance(value, int) else ""
    return f"<td{side}>{escape(_cell(value))}</td>"


def _table(rows: Iterable[Iterable[str]]) -> str:
    lines = ("".join(["<tr>", *row, "</tr>"]) for row in rows)
    return "".join(["<table>", *lines, "</table>"])

"""Prints a page: as JSON, or as text that fits the width of the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from hoodie.display import printable
from hudi_services.cli.flags import WIDE
from hudi_services.operations.inspect.page import Bars, Facts, Lines, Listing, Page, Part
from hudi_services.runtime.terminal import echo, echo_lines, line_width
from hudi_services.runtime.text_table import Line, TextColumn, fact_lines, table_lines, text_lines

_BAR, _SHORTEST = 40, 5  # characters of the longest bar


def print_page(page: Page, *, as_json: bool) -> int:
    """Print the page in the width of the terminal, or with the flag --wide in the width it takes. Returns the exit code."""
    if as_json:
        echo(json.dumps(page.values, indent=2))
    else:
        context = click.get_current_context(silent=True)
        is_wide = context is not None and bool(context.meta.get(WIDE))
        echo_lines(page_lines(page, None if is_wide else line_width()))
    return 1 if page.problems else 0


def page_lines(page: Page, width: int | None) -> Iterator[Line]:
    """The lines of the page, none longer than `width` cells. None: a line for each row."""
    for number, part in enumerate(page.parts):
        if number:
            yield Line("")
        if part.title:
            yield from text_lines(printable(part.title), width, "bold")
        yield from _part_lines(part, width)


def _part_lines(part: Part, width: int | None) -> Iterator[Line]:
    match part:
        case Facts():
            yield from fact_lines([(printable(name), printable(value)) for name, value in part.lines], width)
        case Listing() if part.rows:
            yield from table_lines(_columns(part), _rows(part), width)
        case Listing():
            yield from text_lines(printable(part.empty), width, "dim") if part.empty else ()
        case Bars():
            yield from _bars(part, width)
        case Lines():
            for line in part.lines:
                yield from text_lines(
                    printable(line), None if part.whole else width, "bold red" if part.alarming else ""
                )


def _columns(part: Listing) -> list[TextColumn]:
    return [
        TextColumn(printable(column.header, cell=True), column.right, column.rank, column.wraps)
        for column in part.columns
    ]


def _rows(part: Listing) -> list[list[str]]:
    return [[printable(column.words(row[column.field]), cell=True) for column in part.columns] for row in part.rows]


def _bars(part: Bars, width: int | None) -> Iterator[Line]:
    most = max((number for _, number, _ in part.bars), default=0) or 1
    labels = max((len(label) for label, _, _ in part.bars), default=0)
    counts = max((len(f"{number:,}") for _, number, _ in part.bars), default=0)
    ends = max((len(words) for _, _, words in part.bars), default=0)
    longest = _BAR if width is None else max(_SHORTEST, min(_BAR, width - labels - counts - ends - 6))
    for label, number, words in part.bars:
        bar = "█" * -(-number * longest // most)
        yield Line(f"{label:>{labels}}  {number:>{counts},}  {bar:<{longest}}  {words}".rstrip())

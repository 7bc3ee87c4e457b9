"""Prints a page: as JSON, as tables of rich on a terminal, as plain text elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from hoodie.display import printable
from hudi_services.operations.inspect.page import Bars, Column, Facts, Lines, Listing, Page, Part
from hudi_services.runtime.terminal import echo

_BAR = 40  # characters of the longest bar


def print_page(page: Page, *, as_json: bool) -> int:
    """Returns the exit code."""
    if as_json:
        echo(json.dumps(page.values, indent=2))
    elif sys.stdout.isatty():
        _print_rich(page)
    else:
        echo("\n".join(_plain(page)))
    return 1 if page.problems else 0


def _plain(page: Page) -> Iterator[str]:
    for number, part in enumerate(page.parts):
        if number:
            yield ""
        if part.title:
            yield part.title
        match part:
            case Facts():
                width = max((len(name) for name, _ in part.lines), default=0)
                yield from (f"{name:<{width}}  {value}".rstrip() for name, value in part.lines)
            case Listing():
                yield from _columns(part)
            case Bars():
                yield from _bars(part)
            case Lines():
                yield from part.lines


def _columns(part: Listing) -> Iterator[str]:
    if not part.rows:
        yield from [part.empty] if part.empty else []
        return
    headers = [printable(column.header, cell=True) for column in part.columns]
    cells = [headers, *_cells(part.columns, part)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        texts = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, part.columns, strict=True)
        )
        yield "  ".join(texts).rstrip()


def _cells(columns: Sequence[Column], part: Listing) -> Iterator[list[str]]:
    for row in part.rows:
        yield [printable(column.words(row[column.field]), cell=True) for column in columns]


def _bars(part: Bars) -> Iterator[str]:
    most = max((number for _, number, _ in part.bars), default=0) or 1
    labels = max((len(label) for label, _, _ in part.bars), default=0)
    counts = max((len(f"{number:,}") for _, number, _ in part.bars), default=0)
    for label, number, words in part.bars:
        bar = "█" * -(-number * _BAR // most)
        yield f"{label:>{labels}}  {number:>{counts},}  {bar:<{_BAR}}  {words}".rstrip()


def _print_rich(page: Page) -> None:
    Console().print(Group(*(_rich(part, last=part is page.parts[-1]) for part in page.parts)))


def _rich(part: Part, *, last: bool) -> Group:
    title = [Text(part.title, style="bold")] if part.title else []
    return Group(*title, _body(part), *([] if last or isinstance(part, Listing) else [Text()]))


def _body(part: Part) -> Table | Text:
    match part:
        case Facts():
            table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
            table.add_column(style="dim")
            table.add_column(overflow="fold")
            for name, value in part.lines:
                table.add_row(_text(name), _text(value))
            return table
        case Listing() if part.rows:
            table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
            for column in part.columns:
                table.add_column(_text(column.header), justify="right" if column.right else "left", overflow="fold")
            for cells in _cells(part.columns, part):
                table.add_row(*map(Text, cells))
            return table
        case Listing():
            return Text(part.empty, style="dim")
        case Bars():
            return _text("\n".join(_bars(part)))
        case Lines():
            return _text("\n".join(part.lines), style="bold red" if part.alarming else "")


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)

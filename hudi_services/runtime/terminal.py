"""Text that a command prints. Names, values and comments of a table may be of anybody: a terminal must not obey them."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Iterable

import click

from hoodie.display import printable
from hudi_services.runtime.text_table import Line

_PROSE, _WIDEST = 80, 120  # cells of a line of prose
_NARROWEST = 40  # cells of a line, however narrow the terminal is


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print the text, which may be JSON, with its control codes escaped. `err`: to standard error, `nl`: end the line."""
    click.echo(printable(text), err=err, nl=nl)


class LogLines(logging.Formatter):
    """Lines of the log, with control codes escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def echo_lines(lines: Iterable[Line]) -> None:
    """Print the lines, with their styles if standard output is a terminal."""
    if not sys.stdout.isatty():
        echo("\n".join(line.text for line in lines))
        return
    from rich.console import Console
    from rich.text import Text

    out = Console(highlight=False)
    for line in lines:
        text = Text(printable(line.text), style=line.style)
        if line.dim:
            text.stylize("dim", 0, line.dim)
        out.print(text, soft_wrap=True)


def line_width() -> int | None:
    """The cells of an output line: those of COLUMNS, or of the terminal. None, for no limit, where the output goes elsewhere."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return max(int(columns), _NARROWEST)
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else None


def text_width() -> int:
    """The cells of a line of prose: those of the output, but no more than can be read well; 80 where it goes elsewhere."""
    return min(line_width() or _PROSE, _WIDEST)

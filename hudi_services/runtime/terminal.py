"""Text that a command prints. Names, values and comments of a table may be of anybody: a terminal must not obey them."""

from __future__ import annotations

import click

from hoodie.display import printable


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print the text, which may be JSON, with its control codes escaped. `err`: to standard error, `nl`: end the line."""
    click.echo(printable(text), err=err, nl=nl)

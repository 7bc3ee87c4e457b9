"""An error as a person reads it in a terminal: its parts on lines of their own, and the commands of its remedy to paste."""

from __future__ import annotations

from collections.abc import Iterator

import click

from hudi_services.entry.target import Target, shell_commands
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.text_table import wrapped


def error_lines(error: BaseException, width: int, program: str) -> Iterator[str]:
    """Yield the lines of an error, of at most `width` cells but for commands. Messages about usage come from click itself."""
    failure = Failure.of(error)
    kind = "" if failure.exit_code == 2 or isinstance(error, click.exceptions.Abort) else f"{failure.error}: "
    commands = shell_commands(failure.fix or "")
    remedy = Target.in_words(failure.fix or "", commands)
    parts = [(f"{program}: {kind}", failure.what), ("Found: ", failure.found), ("To do: ", remedy)]
    for label, text in parts:
        if text:
            for line in f"{label}{text}".splitlines():
                yield from wrapped(line, width)
    yield from Target.command_lines(failure.fix or "", commands)

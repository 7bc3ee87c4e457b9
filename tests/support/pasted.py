"""Commands of messages that a user pastes: parsed by the program itself, and not run."""

from __future__ import annotations

import shlex

import click

from hudi_services.cli.program import cli

_PARTS = {"{}": "20260101000000000", "…": "x"}
"""Values for parts that code computes, and for those that a user fills in."""


def usage_fault(text: str) -> str | None:
    """The error of a command that does not parse; None for one that does. The table is named by its path: no registry has it."""
    for part, value in _PARTS.items():
        text = text.replace(part, value)
    program, *words = shlex.split(text)
    if program != "hudi-services":
        return f"{program} is another program"
    command: click.Command = cli
    while isinstance(command, click.Group):
        if not words or words[0] not in command.commands:
            return f"{command.name} has no command {' '.join(words[:1])!r}"
        command = command.commands[words.pop(0)]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    if "--target-base-path" in flags and "--target-base-path" not in words:
        for flag in ("--table", "--registry"):
            if flag in words:
                del words[words.index(flag) : words.index(flag) + 2]
        words += ["--target-base-path", "/lake/orders"]
        words += ["--source-path", "/plain"] if command.name == "bootstrap" else []  # the registry has it
    try:
        command.make_context(command.name, words)
    except click.ClickException as error:
        return error.format_message()
    return None

"""Writes docs/reference/cli.md from the commands themselves: `make cli-docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from hudi_services.cli.commands.completion import PROGRAM
from hudi_services.cli.program import cli

PAGE = Path(__file__).parent / "reference" / "cli.md"
_WIDTH = 110  # characters of a line
_HEAD = """\
# Command line

An [installation](../how-to/shell.md) gives the program `hudi-services`; in a checkout it is `.venv/bin/python -m
hudi_services`. This page is made from the commands' own help by `make cli-docs`.

**The table.** `--table NAME` names a table of the registry. The registry is `--registry FILE`, or the file of the
environment variable `HUDI_REGISTRY`, or `tables.yaml` in the working directory. It gives the path, the flags and the
options, the same that the table's DAG passes. Flags that you type win over them. Without a registry
`--target-base-path` gives the path, and flags and `--hoodie-conf` say the rest.

**Output for programs.** With `--json` standard output is one JSON object (a list for `options`), also of an error:
`error`, `what`, `found`, `fix`, `exit_code`. Lines for people go to standard error. Exit codes: 0 done, 1 failed, 2
wrong usage, 3 done but for a service after the commit. If a command has other codes (`doctor`, `purge`), its
help below names them.

**Completion** of commands, flags, tables of the registry and options: `eval "$(hudi-services completion bash)"` in
`~/.bashrc`, zsh alike; for fish see [below](#hudi-services-completion).
"""


def page() -> str:
    """The whole page."""
    sections = [section for path, command in _commands(cli, ()) for section in _section(path, command)]
    return "\n".join([_HEAD, *sections])


def _commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _section(path: tuple[str, ...], command: click.Command) -> Iterator[str]:
    context = click.Context(
        command,
        info_name=" ".join([PROGRAM, *path]),
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield f"## {context.info_name}\n"
    yield f"```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page())

"""The remedy of an error: its commands get the table that the failed command named, so that they can be pasted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import click

from hoodie.errors import HoodieError
from hudi_services.entry.target import Target

_OTHER_WORDS = ("--dry-run", "--dryrun", "--dry_run", "--plan", "--preview", "--what-if", "--check", "--simulate")


def name_table(error: BaseException, argv: Sequence[str], group: click.Group) -> None:
    """Complete the commands in the remedy of `error` with the table of `argv`: those that take one and name none."""
    table = typed(argv, "--table")
    path = typed(argv, "--target-base-path")
    if not isinstance(error, HoodieError) or not error.fix or not (table or path):
        return
    target = Target.of(path or "", table or None, typed(argv, "--registry"))
    error.replace_fix(target.with_commands(error.fix, lambda command: _takes_table(command.split()[1:], group)))


def with_explain(error: Exception) -> Exception:
    """The error with `--explain` where another program's word for it was typed, and the command has that flag."""
    if not isinstance(error, click.NoSuchOption) or error.option_name not in _OTHER_WORDS or error.ctx is None:
        return error
    if not any("--explain" in parameter.opts for parameter in error.ctx.command.params):
        return error
    message = f"{error.message} Use --explain, which prints the plan and changes nothing."
    return click.NoSuchOption(error.option_name, message, ctx=error.ctx)


def typed(argv: Sequence[str], flag: str) -> str | None:
    """The value of a flag as it was typed; None without it, or if it was typed more than once."""
    values = [value for word, value in pairwise(argv) if word == flag]
    values += [word.partition("=")[2] for word in argv if word.startswith(f"{flag}=")]
    return values[0] if len(values) == 1 else None


def _takes_table(words: Sequence[str], group: click.Group) -> bool:
    """True if the command that `words` begin with has both flags of a table. A bootstrap makes its table elsewhere."""
    command: click.Command | None = group
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.commands.get(word)
    flags = {flag for parameter in command.params for flag in parameter.opts} if command is not None else set()
    return {"--table", "--target-base-path"} <= flags and words[0] != "bootstrap"

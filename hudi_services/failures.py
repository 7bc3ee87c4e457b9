"""Errors of the command line: a line for people, one JSON object for programs, and the exit code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import click

from hoodie.errors import ConfigError, HoodieError

TOLD = (HoodieError, OSError, click.ClickException, click.exceptions.Abort)
"""What `tell` knows; anything else is a bug and keeps its traceback."""


_LOOK = "Look with `hudi-services show commits` whether it is in before you run it again"


@dataclass(frozen=True)
class Failure:
    """An error in parts: its kind, what is wrong with which thing, what was found there, what to do. Exit code 1 or 2."""

    error: str
    what: str
    found: str | None
    fix: str | None
    exit_code: int


def tell(error: BaseException, *, as_json: bool) -> int:
    """Print the error to standard error; for a program (`--json`) also to standard output, as JSON. Returns the exit code."""
    if isinstance(error, click.ClickException):
        error.show()
    else:
        click.echo(f"hudi-services: {_line(error)}", err=True)
    failure = _parts(error)
    if as_json:
        click.echo(json.dumps(asdict(failure), indent=2))
    return failure.exit_code


def _line(error: BaseException) -> str:
    if isinstance(error, HoodieError):
        return str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
    if isinstance(error, OSError):
        return f"the storage failed: {error}; nothing half done is visible. {_LOOK}"
    return "stopped; nothing was changed"


def _parts(error: BaseException) -> Failure:
    kind = type(error).__name__
    if isinstance(error, HoodieError):
        return Failure(kind, error.what, error.found, error.fix, 2 if isinstance(error, ConfigError) else 1)
    if isinstance(error, click.ClickException):
        return Failure("UsageError", error.format_message(), None, "see --help", 2)
    return Failure(kind, _line(error), None, _LOOK if isinstance(error, OSError) else None, 1)

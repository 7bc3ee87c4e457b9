"""Errors as people and programs get them: a line or a block of few lines, one JSON object, the exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from hoodie.errors import ConfigError, DeleteCapError, HoodieError, UnclearCommitError
from hudi_services.runtime.terminal import echo

REPORTED_ERRORS = (HoodieError, OSError, MemoryError, click.ClickException, click.exceptions.Abort)
"""The errors that `tell` handles; any other is a bug and keeps its traceback."""

_LOOK = "Look with `hudi-services show commits` whether it is in before you run it again"
_MORE_MEMORY = "give the process more, or run the service on Spark (--engine spark)"
_PART = 1000  # characters of one part of an error in a block
_PYTHON = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
_JAVA = re.compile(r"^Caused by: (.+)", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """An error in parts: its kind, what is wrong with which thing, what was found there, what to do. Exit code 1 or 2.

    `retryable`: the same run may succeed a little later without any repair.
    `digest`: that of the plan that needs approval. `deletion`: what it would delete, as `DeleteCapError` has it.
    """

    error: str
    what: str
    found: str | None
    fix: str | None
    exit_code: int
    retryable: bool
    digest: str | None = None
    deletion: Mapping[str, int] | None = None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure of any error. An exception of Spark's is reduced to the message of the worker's error, without stack
        traces."""
        error = _with_rights(error)
        kind = type(error).__name__
        if (full := _full_memory(error)) is not None:
            return cls(MemoryError.__name__, "There is not enough memory", str(full) or None, _MORE_MEMORY, 1, True)
        if isinstance(error, HoodieError):
            code = 2 if isinstance(error, ConfigError) else 1
            # A service looks by itself what is in: an ingestion by its position, the others by their plan on the timeline.
            retryable = error.retryable or isinstance(error, UnclearCommitError)
            digest = error.digest if isinstance(error, DeleteCapError) else None
            deletion = error.deletion if isinstance(error, DeleteCapError) else None
            return cls(kind, error.what, error.found, error.fix, code, retryable, digest, deletion)
        if isinstance(error, click.ClickException):
            return cls("UsageError", error.format_message(), None, "see --help", 2, False)
        if isinstance(error, OSError):
            return cls(kind, _line(error), None, _LOOK, 1, True)
        if isinstance(error, click.exceptions.Abort):
            return cls(kind, _line(error), None, None, 1, False)
        # The error is unknown: lost executors and full memories are among these, and later tries may succeed.
        return cls(kind, core(str(error)) or str(error).strip().partition("\n")[0] or kind, None, None, 1, True)

    def as_dict(self) -> dict[str, Any]:
        """The parts as a dict, for programs."""
        return asdict(self)

    def shortened(self) -> Failure:
        """Each part in one line of at most a thousand characters."""
        return replace(
            self, what=_short(self.what), found=_short(self.found or "") or None, fix=_short(self.fix or "") or None
        )

    def block(self) -> str:
        """The text for a person: at most three lines."""
        short = self.shortened()
        parts = [(f"{self.error}: ", short.what), ("Found: ", short.found), ("To do: ", short.fix)]
        return "\n".join(label + text for label, text in parts if text)


def tell(error: BaseException, *, as_json: bool) -> int:
    """Print the error to standard error; for a program (`--json`) also to standard output, as JSON. Returns the exit code."""
    if isinstance(error, click.ClickException):
        error.show()
    else:
        echo(f"hudi-services: {_line(error)}", err=True)
    failure = Failure.of(error)
    if as_json:
        echo(json.dumps(failure.as_dict(), indent=2))
    return failure.exit_code


def _full_memory(error: BaseException | None) -> MemoryError | None:
    """The memory error that caused `error`, if any: a file that cannot be read for want of memory is not a bad file."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__
    return error


def _with_rights(error: BaseException) -> BaseException:
    """The error itself, or the one that names the missing right to a file or folder."""
    if isinstance(error, OSError) and not isinstance(error, HoodieError):
        from hoodie.storage.rights import access_denied, is_denied  # its package loads Arrow

        if is_denied(error):
            return access_denied("this command", error)
    return error


def _line(error: BaseException) -> str:
    error = _with_rights(error)
    if (full := _full_memory(error)) is not None:
        return f"there is not enough memory: {full}. To do: {_MORE_MEMORY}"
    if isinstance(error, HoodieError):
        return str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
    if isinstance(error, OSError):
        return f"the storage failed: {error}; nothing half done is visible. {_LOOK}"
    return "stopped; nothing was changed"


def core(text: str) -> str:
    """The message of the last Python exception in a text with stack traces; without one, of Java's root cause; otherwise
    empty."""
    raised = _PYTHON.findall(text) or _JAVA.findall(text)
    return str(raised[-1]) if raised else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PART else f"{line[:_PART]}…"

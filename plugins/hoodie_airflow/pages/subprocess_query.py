"""Looks at a table that a page asks for: in a process of their own, as no request may read a lake in the API server itself."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import BoundedSemaphore, Event, Timer
from typing import Any

from fastapi import HTTPException

from hoodie_airflow.subprocess_runner import child_environment
from hudi_services.entry.table import Table

_log = logging.getLogger(__name__)

SECONDS = 60.0
MEMORY = 2 << 30  # bytes
_BYTES = 4 << 20  # bytes of an answer
_AT_ONCE = BoundedSemaphore(2)


def looked(
    registry: str, table: Table, command: Sequence[str], user: str, seconds: float | None = None
) -> dict[str, Any]:
    """Return what a command that looks at the table prints as JSON. `command` is its name and arguments, without those
    that name the table.

    Raises HTTPException: 429 while two others are answered, 504 after `seconds`, 422 for what the command refuses, 502
    where it dies.
    """
    _log.info("table %s: %s asks for %r", table.name, user, shlex.join(command))
    flags = ["--registry", registry, "--table", table.name, "--json"]
    arguments = ["-m", "hudi_services.cli.child_process", str(os.getpid()), str(MEMORY), *command, *flags]
    seconds = SECONDS if seconds is None else seconds
    with _turn():
        ended = _run([sys.executable, *arguments], seconds)
    if ended.late:
        slow = f"This takes longer than {seconds:.0f} s. On a machine with time: {_typed(command, table)}"
        raise HTTPException(504, slow)
    if len(ended.output) > _BYTES:
        raise HTTPException(422, f"The answer is too large for a page. At a shell: {_typed(command, table)}")
    result = _parsed(ended.output)
    if result is None:
        _log.error("table %s: %s ended with code %d: %s", table.name, command[0], ended.code, ended.errors)
        raise HTTPException(502, f"The process that looks ended with code {ended.code}; the API server's log says why.")
    if "error" in result and "what" in result:
        labels = (("", "what"), ("Found: ", "found"), ("To do: ", "fix"))
        raise HTTPException(422, "\n".join(f"{label}{result[key]}" for label, key in labels if result.get(key)))
    return result


@dataclass(frozen=True)
class _Ended:
    """A process: its exit code, what it printed, at most a byte more than an answer may have, the end of its error
    output, and whether its time was over."""

    code: int
    output: bytes
    errors: str
    late: bool


def _run(command: Sequence[str], seconds: float) -> _Ended:
    """A process that prints more than an answer may have is ended, not listened to: this process serves all of Airflow."""
    late = Event()
    with (
        TemporaryFile() as errors,
        subprocess.Popen(
            command, env=child_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):

        def end() -> None:
            late.set()
            process.kill()

        clock = Timer(seconds, end)
        clock.start()
        try:
            assert process.stdout is not None, "it was asked for"
            output = process.stdout.read(_BYTES + 1)
            if len(output) > _BYTES:
                process.kill()
            code = process.wait()
        finally:
            clock.cancel()
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
        return _Ended(code, output, errors.read().decode(errors="replace"), late.is_set())


@contextmanager
def _turn() -> Iterator[None]:
    if not _AT_ONCE.acquire(blocking=False):
        raise HTTPException(429, "Two such pages are being made already: try again in a moment.")
    try:
        yield
    finally:
        _AT_ONCE.release()


def _parsed(output: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(output)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _typed(command: Sequence[str], table: Table) -> str:
    """The command to copy into a shell: a partition may be named like a command."""
    return f"hudi-services {shlex.join(command)} --table {table.name}"

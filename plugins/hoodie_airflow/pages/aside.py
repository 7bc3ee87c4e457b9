"""Looks at a table that a page asks for: in a process of their own, as no request may read a lake in the API server itself."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

from fastapi import HTTPException

from hoodie_airflow.child import child_environment
from hudi_services.entry.table import Table

_log = logging.getLogger(__name__)

SECONDS = 60.0
MEMORY = 2 << 30  # bytes
_BYTES = 4 << 20  # of an answer
_AT_ONCE = BoundedSemaphore(2)


def looked(registry: str, table: Table, command: Sequence[str], user: str) -> dict[str, Any]:
    """What a command that looks at the table prints as JSON. `command` is its name and arguments, without those that name the
    table.

    Raises HTTPException: 429 while two others are answered, 504 after a minute, 422 for what the command refuses, 502 where it
    dies.
    """
    _log.info("table %s: %s asks for %s", table.name, user, " ".join(command))
    flags = ["--registry", registry, "--table", table.name, "--json"]
    arguments = ["-m", "hudi_services.process.contained", str(os.getpid()), str(MEMORY), *command, *flags]
    with _turn():
        try:
            run = subprocess.run(
                [sys.executable, *arguments],
                env=child_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            slow = f"This takes longer than {SECONDS:.0f} s. On a machine with time: {_typed(command, table)}"
            raise HTTPException(504, slow) from None
    if len(run.stdout) > _BYTES:
        raise HTTPException(422, f"The answer is too large for a page. At a shell: {_typed(command, table)}")
    found = _parsed(run.stdout)
    if found is None:
        said = run.stderr[-2000:].decode(errors="replace")
        _log.error("table %s: %s ended with code %d: %s", table.name, command[0], run.returncode, said)
        raise HTTPException(
            502, f"The process that looks ended with code {run.returncode}; the API server's log says why."
        )
    if "error" in found and "what" in found:
        labels = (("", "what"), ("Found: ", "found"), ("To do: ", "fix"))
        raise HTTPException(422, "\n".join(f"{label}{found[key]}" for label, key in labels if found.get(key)))
    return found


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
        found = json.loads(output)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _typed(command: Sequence[str], table: Table) -> str:
    return f"hudi-services {' '.join(command)} --table {table.name}"

"""Audit of a table's deletes: the files, the time, the reason, the plan and the user. It is only ever added to.

For each action two files of JSON lines below `.hoodie/.audit`, which Hudi's readers ignore: one before the first delete, with the
files to delete, and one after the last. Reads and repairs of the table need neither.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import PurePath
from typing import Any

from hoodie.clock import Clock
from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own
from hoodie.transaction.locks.owner import user_name

FOLDER = ".hoodie/.audit"
_PLANNED, _ENDED = "planned.jsonl", "done.jsonl"
_NAME = re.compile(rf"(\d{{14,17}})\.([a-z]+)\.[0-9a-f]{{8}}\.{re.escape(_PLANNED)}")
_AIRFLOW = "AIRFLOW_CTX_"  # what Airflow's tasks have in their environment
_RUN = ("dag_id", "dag_run_id", "task_id", "try_number")


@dataclass(frozen=True)
class AuditedFile:
    """A file that an action deletes: its path, its size in bytes and the reason, None where its plan does not say."""

    path: str
    bytes: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Audited:
    """An action that deletes files: its instant, what it is called, why, and where its plan was."""

    instant: Time
    action: str
    why: str
    plan: str


@contextmanager
def audited(
    storage: Storage, clock: Clock, action: Audited, files: Iterable[AuditedFile], *, also_without: bool = False
) -> Iterator[dict[str, object]]:
    """Record the deletes of an action, around them. A run that repeats the action after a crash finds the first record, and adds
    the end, with what the block puts into the outcome. An action without files is recorded only if it is `also_without`.

    Raises OSError when nothing can be noted: then nothing is deleted.
    """
    lines = [{"path": file.path, "bytes": file.bytes, "reason": file.reason} for file in files]
    outcome: dict[str, object] = {}
    if not lines and not also_without:
        yield outcome
        return
    name = _name(action, [line["path"] for line in lines])
    about = {"instant": action.instant, "action": action.action, "why": action.why, "plan": action.plan}
    start = clock.now()
    head = {**about, "at": start.astimezone(UTC).isoformat(), **_actor(), "files": len(lines)}
    _note(storage, f"{name}.{_PLANNED}", [head, *lines])
    yield outcome
    end_time = clock.now()
    seconds = round((end_time - start).total_seconds(), 3)
    end = {"at": end_time.astimezone(UTC).isoformat(), **_actor(), "seconds": seconds, **outcome}
    _note(storage, f"{name}.{_ENDED}", [end])


def _name(action: Audited, paths: Iterable[object]) -> str:
    """The same for the same files only: instants of rollbacks that a restore has dropped may come again."""
    digest = hashlib.sha256("\n".join(sorted(map(str, paths))).encode()).hexdigest()[:8]
    return f"{FOLDER}/{action.instant}.{action.action}.{digest}"


def _note(storage: Storage, path: str, lines: Iterable[Any]) -> None:
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    with suppress(FileExistsError):  # by who was killed at it
        create_own(storage, path, body)


def _actor() -> dict[str, Any]:
    program = PurePath(sys.argv[0] or "python")
    run = {name: os.environ[key] for name in _RUN if (key := f"{_AIRFLOW}{name.upper()}") in os.environ}
    return {
        "user": user_name(),
        "host": socket.gethostname(),
        "program": program.parent.name if program.stem == "__main__" else program.name,
        "pid": os.getpid(),
        "airflow": run or None,
    }


@dataclass(frozen=True)
class AuditEntry:
    """Entry of the audit for one action. `outcome` is None while it is not finished; both are its lines, unchanged."""

    instant: Time
    action: str
    planned: dict[str, Any]
    files: tuple[AuditedFile, ...]
    outcome: dict[str, Any] | None


@dataclass(frozen=True)
class AuditName:
    """Action of an entry of the audit, and the beginning of its files' names."""

    instant: Time
    action: str
    path: str


def audit_names(storage: Storage) -> list[AuditName]:
    """The entries of the audit, the newest first. One listing."""
    names = [(_NAME.fullmatch(file.name), file.path) for file in storage.list(FOLDER).files]
    result = [AuditName(Time(name[1]), name[2], path.removesuffix(f".{_PLANNED}")) for name, path in names if name]
    return sorted(result, key=lambda name: (name.instant, name.path), reverse=True)


def read_audit(storage: Storage, name: AuditName) -> AuditEntry:
    """The entry of one action. Raises CorruptTableError for one that cannot be read."""
    planned = _lines(storage, f"{name.path}.{_PLANNED}")
    try:
        outcome = _lines(storage, f"{name.path}.{_ENDED}")[0]
    except FileNotFoundError:
        outcome = None
    files = tuple(AuditedFile(str(line.get("path")), line.get("bytes"), line.get("reason")) for line in planned[1:])
    return AuditEntry(name.instant, name.action, planned[0], files, outcome)


def _lines(storage: Storage, path: str) -> list[dict[str, Any]]:
    try:
        result = [json.loads(line) for line in storage.read(path).splitlines()]
    except ValueError as error:
        raise _torn(storage, path, str(error)) from error
    if not result or not all(isinstance(line, dict) for line in result):
        raise _torn(storage, path, "a line that is not an object, or none")
    return result


def _torn(storage: Storage, path: str, detail: str) -> CorruptTableError:
    return CorruptTableError(
        f"An entry of the audit of table {storage.base_path} cannot be read",
        found=f"{path}: {detail}",
        fix="move that file away; nothing else needs it",
    )

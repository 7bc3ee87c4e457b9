"""The spool, in which records wait: small files, each made whole or not at all, so that tasks that end at once need no
lock.

A run leaves `<id>.begun` before its service changes anything, `<id>.at.<instant>` before each instant of its own, and
`<id>.done` at its end, when the others go. A `begun` without a `done` of a process that is gone means that the run was
killed; its files name the instants to ask the table for.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hoodie.cache import cached_property
from hoodie.storage import FileInfo, Storage, open_storage
from hoodie.transaction.locks.owner import LockOwner
from hudi_services.entry.table import History
from hudi_services.operations.history.record import Record, Started, parse_started

_log = logging.getLogger(__name__)

_STARTED, _AT, _DONE = "begun", "at", "done"
_GIVEN_UP = timedelta(days=1)
"""The time for which a run on another machine, of whose processes nothing is known, counts as one that goes on."""


@dataclass(frozen=True)
class Waiting:
    """The files of one run in the spool; `files` go when the run is in the history."""

    record: Record | None = None
    started: Started | None = None
    dead: bool = False
    instants: Sequence[str] = ()
    files: Sequence[tuple[Storage, str]] = ()


@dataclass(frozen=True)
class Spool:
    """The spool of a history, and the folder of this user on this machine that stands in for one that cannot be written to."""

    folder: str
    stand_in: str

    @classmethod
    def of(cls, history: History) -> Spool:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        name = hashlib.sha256(history.path.encode()).hexdigest()[:16]
        return cls(spool_of(history), f"{state}/hudi-services/history/{name}")

    @cached_property
    def places(self) -> tuple[Storage, Storage]:
        return open_storage(self.folder), open_storage(self.stand_in)

    def put(self, name: str, content: bytes) -> None:
        """Raises OSError where neither of the two folders can be written to."""
        try:
            _put(self.places[0], name, content)
        except OSError:
            _put(self.places[1], name, content)

    def begin(self, started: Started, owner: LockOwner) -> None:
        self.put(
            f"{_id(started)}.{_STARTED}", json.dumps({"started": asdict(started), "owner": asdict(owner)}).encode()
        )

    def at(self, started: Started, instant: str) -> None:
        self.put(f"{_id(started)}.{_AT}.{instant}", b"")

    def finish(self, record: Record, instants: Sequence[str]) -> None:
        """`instants` are those that were noted with `at`."""
        self.put(f"{_id(record.started)}.{_DONE}", record.as_json())
        self.drop(record.started, instants)

    def drop(self, started: Started, instants: Sequence[str]) -> None:
        """Forget that the run began."""
        names = [f"{_id(started)}.{_AT}.{instant}" for instant in instants]
        for place in self.places:
            for name in (*names, f"{_id(started)}.{_STARTED}"):
                place.delete(name)

    def waiting(self, now: datetime) -> Iterator[Waiting]:
        """All runs of which something is here, also those that go on. A file of another kind is left where it is."""
        files_by_run: dict[str, list[tuple[Storage, FileInfo]]] = {}
        for place in self.places:
            for file in place.list("").files:
                files_by_run.setdefault(file.path.partition(".")[0], []).append((place, file))
        for files in files_by_run.values():
            yield _waiting(files, now)


def spool_of(history: History) -> str:
    return history.spool or f"{history.path.rstrip('/')}_spool"


def _id(started: Started) -> str:
    return hashlib.sha256(started.run_id.encode()).hexdigest()[:32]


def _put(place: Storage, name: str, content: bytes) -> None:
    try:
        place.create(name, content)
    except FileExistsError:  # the same run said so before
        place.delete(name)
        place.create(name, content)


def _waiting(files: Sequence[tuple[Storage, FileInfo]], now: datetime) -> Waiting:
    record, started, dead, instants = None, None, False, []
    for place, file in files:
        kind, _, suffix = file.path.partition(".")[2].partition(".")
        try:
            if kind == _AT:
                instants.append(suffix)
            elif kind == _DONE:
                record = Record.parse(place.read(file.path))
            elif kind == _STARTED:
                values = json.loads(place.read(file.path))
                started, dead = parse_started(values["started"]), _dead(values["owner"], file, now)
        except FileNotFoundError:  # delivered since the listing
            continue
        except (ValueError, TypeError, KeyError) as error:
            _log.warning("%s in the spool %s is no record, and stays there: %s", file.path, place.base_path, error)
    if record is None and started is None:
        return Waiting()
    return Waiting(record, started, dead, sorted(instants), [(place, file.path) for place, file in files])


def _dead(values: dict[str, Any], file: FileInfo, now: datetime) -> bool:
    owner = LockOwner.parse(json.dumps(values).encode())
    if owner is not None and owner.is_dead():
        return True
    silent = now - datetime.fromtimestamp(file.modified_ms / 1000, UTC) > _GIVEN_UP
    return silent and (owner is None or not owner.is_seen())

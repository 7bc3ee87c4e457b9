"""Approval lists: the files of a plan that needs approval before a run may delete them, kept until a user agrees.

A file for each digest of a plan below `.hoodie/.asked`, which Hudi's readers ignore: 32 bytes a file of the plan, the mark of its
path and size. The list cannot be exchanged: it counts only if its own digest is the approved one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from hoodie.clock import Clock
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own

FOLDER = ".hoodie/.asked"
_MARK = 32  # bytes
_VALID_FOR = timedelta(days=30)  # after which an approval has no effect: the run asks again

_log = logging.getLogger(__name__)


def keep_approval(storage: Storage, clock: Clock, digest: str, marks: Iterable[bytes]) -> None:
    """Keep the list of a plan that was refused, and delete old ones. A failure is logged: the next run then asks for a new
    approval."""
    try:
        oldest = (clock.now() - _VALID_FOR).timestamp() * 1000
        for file in storage.list(FOLDER).files:
            if file.modified_ms < oldest:
                storage.delete(file.path)
        with suppress(FileExistsError):  # the same plan was asked about before
            create_own(storage, f"{FOLDER}/{digest}", b"".join(sorted(marks)))
    except OSError as error:
        _log.warning("The files of plan %s of table %s were not noted: %s", digest, storage.base_path, error)


def asked_at(storage: Storage, digest: str) -> datetime | None:
    """The time since when runs ask for an approval of this plan; None if none has asked. One storage call."""
    info = storage.info(f"{FOLDER}/{digest}")
    return datetime.fromtimestamp(info.modified_ms / 1000, UTC) if info is not None else None


def read_approval(storage: Storage, digest: str) -> frozenset[bytes]:
    """The marks of the files of a plan, none where its list is not there."""
    try:
        marks = storage.read(f"{FOLDER}/{digest}")
    except FileNotFoundError:
        return frozenset()
    return frozenset(marks[start : start + _MARK] for start in range(0, len(marks), _MARK))

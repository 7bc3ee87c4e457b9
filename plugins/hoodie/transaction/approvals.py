"""The files that a run has asked about before it may delete them, kept until somebody agrees.

A file for each digest of a plan below `.hoodie/.asked`, which no reader of Hudi's looks at: 32 bytes a file of the plan, the mark
of its path and size. Nobody can put another list in its place: a list counts when its own digest is the one that was agreed to.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from hoodie.clock import Clock
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own

FOLDER = ".hoodie/.asked"
_MARK = 32  # bytes
_KEPT = timedelta(days=30)  # after which nobody agrees any more: the run is asked about again

_log = logging.getLogger(__name__)


def keep_asked(storage: Storage, clock: Clock, digest: str, marks: Iterable[bytes]) -> None:
    """Keep the list of a plan that was refused, and delete old ones. A failure is told: then another plan is asked about anew."""
    try:
        oldest = (clock.now() - _KEPT).timestamp() * 1000
        for file in storage.list(FOLDER).files:
            if file.modified_ms < oldest:
                storage.delete(file.path)
        with suppress(FileExistsError):  # the same plan was asked about before
            create_own(storage, f"{FOLDER}/{digest}", b"".join(sorted(marks)))
    except OSError as error:
        _log.warning("The files of plan %s of table %s were not noted: %s", digest, storage.base_path, error)


def read_asked(storage: Storage, digest: str) -> frozenset[bytes]:
    """The marks of the files of a plan, none where its list is not there."""
    try:
        listed = storage.read(f"{FOLDER}/{digest}")
    except FileNotFoundError:
        return frozenset()
    return frozenset(listed[start : start + _MARK] for start in range(0, len(listed), _MARK))

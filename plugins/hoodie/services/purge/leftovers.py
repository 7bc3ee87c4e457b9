"""The rest that a purge could not erase: a file beside its keys, with counts, holders and times, without a value of the rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from hoodie.services.purge.journal import FOLDER, digest_of
from hoodie.services.stages import HeldFile
from hoodie.storage.base import FileInfo, Storage

_ENDING = ".json"


@dataclass(frozen=True)
class Holder:
    """An instant or a consumer that keeps files of a purge, in words, and the remedy."""

    by: str
    fix: str
    files: int
    bytes: int


@dataclass(frozen=True)
class UnfinishedPurge:
    """A purge that has not erased everything. `digest` is the SHA-256 of its condition, `at` the time of its last run.

    One that has not `ended` runs still, or was killed. `left` counts files that no step of a purge rewrites. With `came_back` the
    table got such rows during the run.
    """

    digest: str
    at: datetime
    ended: bool
    holders: tuple[Holder, ...] = ()
    left: int = 0
    came_back: bool = False

    @property
    def files(self) -> int:
        """The files that something holds."""
        return sum(holder.files for holder in self.holders)

    @property
    def bytes(self) -> int:
        """Their bytes."""
        return sum(holder.bytes for holder in self.holders)

    @property
    def can_go_on(self) -> bool:
        """True if another run may erase more: a purge that only has files which no step rewrites is as done as it gets."""
        return bool(self.holders) or self.came_back or not self.ended


def keep_leftovers(
    storage: Storage, digest: str, at: datetime, held_files: Collection[HeldFile], left: int, *, came_back: bool
) -> None:
    """Keep the rest of a run, in place of that of earlier runs of the purge."""
    earlier = [file.path for file in _files(storage) if digest_of(file.path) == digest]
    files, sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for file in held_files:
        files[file.by, file.fix] += 1
        sizes[file.by, file.fix] += file.bytes
    holders = [
        {"by": by, "fix": fix, "files": count, "bytes": sizes[by, fix]} for (by, fix), count in sorted(files.items())
    ]
    body = {"at": at.astimezone(UTC).isoformat(), "holders": holders, "left": left, "came_back": came_back}
    storage.create(f"{FOLDER}/{digest}-{uuid4().hex}{_ENDING}", json.dumps(body).encode())
    for path in earlier:
        storage.delete(path)


def unfinished_purges(storage: Storage) -> list[UnfinishedPurge]:
    """The purges of a table that have not erased everything, the oldest first. One listing, and a read for each purge."""
    by_digest: dict[str, list[FileInfo]] = {}
    for file in storage.list(FOLDER).files:
        by_digest.setdefault(digest_of(file.path), []).append(file)
    return sorted((_purge(storage, *item) for item in by_digest.items()), key=lambda purge: purge.at)


def _purge(storage: Storage, digest: str, files: Collection[FileInfo]) -> UnfinishedPurge:
    """By its newest summary. A run that was killed has none, and one that ends now may delete it."""
    summaries = sorted((purge for file in files for purge in _read(storage, digest, file)), key=lambda purge: purge.at)
    if summaries:
        return summaries[-1]
    newest = max(file.modified_ms for file in files)
    return UnfinishedPurge(digest, datetime.fromtimestamp(newest / 1000, UTC), ended=False)


def _read(storage: Storage, digest: str, file: FileInfo) -> Iterator[UnfinishedPurge]:
    if not file.name.endswith(_ENDING):
        return
    try:
        body = json.loads(storage.read(file.path))
        at = datetime.fromisoformat(body["at"])
        holders = tuple(Holder(**holder) for holder in body["holders"])
        yield UnfinishedPurge(digest, at, True, holders, body["left"], body["came_back"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return


def _files(storage: Storage) -> list[FileInfo]:
    return [file for file in storage.list(FOLDER).files if file.name.endswith(_ENDING)]

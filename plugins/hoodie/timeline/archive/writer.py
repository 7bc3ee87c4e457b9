"""Archived instants, and their writer, with any storage (format notes, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hoodie.storage.base import Storage
from hoodie.timeline.instant import Instant, State


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of the active timeline: the instant in the state that it shows, and its content."""

    instant: Instant
    body: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A completed instant with all files that the active timeline has of it."""

    completed: StateFile
    pending: tuple[StateFile, ...]  # requested, then inflight

    @property
    def instant(self) -> Instant:
        return self.completed.instant

    def body(self, state: State) -> bytes:
        """Contents of the file of a pending state; nothing without one."""
        return next((file.body for file in self.pending if file.instant.state is state), b"")


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """How an archive is laid out; see `hoodie.config.keys.archive`."""

    block_entries: int = 10
    level_files: int = 10
    level_file_bytes: int = 1000 * 1024 * 1024
    manifests_retained: int = 3


class ArchiveWriter(Protocol):
    """Puts instants into the archive. Call it under the table's lock.

    Both methods raise CorruptTableError or MissingFileError naming the part of the archive, or of the timeline, that cannot be
    read, and LockLostError when another process has changed the archive since.
    """

    def add(self, entries: Sequence[Entry]) -> None:
        """Store these instants, ascending. They are in the archive when this returns, all of them; after an error none are, or
        all: ask `ArchivedTimeline.known`."""
        ...

    def tidy(self) -> int:
        """Merge small files and delete what no reader needs any more; how many files were merged."""
        ...


def drop(storage: Storage, path: str) -> None:
    """Delete a file, and the checksum file that Hadoop's local file system keeps of it: for another content it is wrong."""
    folder, _, name = path.rpartition("/")
    storage.delete(path)
    storage.delete(f"{folder}/.{name}.crc")

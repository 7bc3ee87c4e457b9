"""The storage protocol: the few verbs with which the library touches files.

Paths are relative to the table's base path, with `/` between parts; `""` is the base path itself. Every verb raises
UnsafePathError for a path that leads out of it, verbs that write also where a link in the path leads into a table, which may be
another one. Verbs that delete or move raise UnsafeDeleteError there. A storage is picklable: Spark ships it to its workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from hoodie.errors import CorruptTableError, UnsafePathError

# A pyarrow.NativeFile or any Python file object that pyarrow accepts.
File = Any


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One file: its path relative to the base path, its size in bytes, its modification time in ms since 1970."""

    path: str
    size: int
    modified_ms: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Listing:
    """Files and folders directly in a folder. Empty when the folder is not there, as on an object store."""

    files: tuple[FileInfo, ...] = ()
    folders: tuple[str, ...] = ()  # paths relative to the base path
    dangling: tuple[str, ...] = ()  # links without a target, also the listed folder itself: what they hold is not known


class Storage(Protocol):
    """A table's base path as seen through a file system or object store."""

    @property
    def base_path(self) -> str:
        """The URL or absolute path that Hudi's metadata files name, without a trailing slash."""
        ...

    def list(self, folder: str) -> Listing:
        """List `folder`, not its sub folders. One storage call."""
        ...

    def info(self, path: str) -> FileInfo | None:
        """Size and time of the file, or None when there is none, or a folder."""
        ...

    def read(self, path: str) -> bytes:
        """The whole file. Raises FileNotFoundError."""
        ...

    def open_input(self, path: str) -> File:
        """A random-access reader. Raises FileNotFoundError."""
        ...

    def open_output(self, path: str) -> AbstractContextManager[File]:
        """A writer to a new file; folders are made as needed. On leaving the block without an error the file is durable.

        Raises FileExistsError when the file is there: a reader may be in it, and no writer may lose what
        another wrote.
        """
        ...

    def create(self, path: str, data: bytes) -> None:
        """Create the file with this content in one step: it is there whole or not at all (format notes, section 2.3).

        Raises FileExistsError when a file of any writer is there.
        """
        ...

    def touch(self, path: str) -> None:
        """Make the file, empty, or renew its modification time; it is there all the while. Never for what has content."""
        ...

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there, as far as the storage shows it: S3 always says True."""
        ...

    def move(self, path: str, to: str) -> bool:
        """Move a file; False when there is none at `path`. Folders are made as needed.

        If the process is killed in between, both places have the whole file: the next call ends that. Raises FileExistsError when
        a file with other bytes is at `to`.
        """
        ...

    def delete_folder(self, folder: str) -> None:
        """Delete a folder and all in it; nothing happens when it is not there. The base path itself is refused."""
        ...

    def sweep(self, folders: Sequence[str]) -> None:
        """Delete what processes that are gone have left unfinished directly in these folders, and nothing else.

        If a file is made by one request there is nothing to find.
        """
        ...


@runtime_checkable
class ReplacingStorage(Storage, Protocol):
    """A storage in which the content of a file can be replaced by one step that another writer cannot come into."""

    def replace(self, path: str, old: bytes, new: bytes) -> bool:
        """Give the file the content `new` if it has the content `old`; False when it has another, or is not there.

        A reader sees the one or the other, whole. Raises OSError when it is unknown whether it was done.
        """
        ...


@contextmanager
def closing_input(storage: Storage, path: str) -> Iterator[File]:
    """Open `path` for random-access reading and close it at the end of the block."""
    source = storage.open_input(path)
    try:
        yield source
    finally:
        source.close()


def list_whole(storage: Storage, folder: str) -> Listing:
    """List `folder`, where a file that is passed over would be lost. Raises CorruptTableError for a link without a target."""
    listing = storage.list(folder)
    if listing.dangling:
        raise CorruptTableError(
            f"The link {listing.dangling[0]} in {storage.base_path} leads nowhere",
            found="what it leads to is not there, as with a disk that is not mounted",
            fix="bring that back, or remove the link; nothing was changed",
        )
    return listing


def walk_files(storage: Storage, folder: str) -> Iterator[FileInfo]:
    """Every file below `folder`, one listing a folder."""
    listing = list_whole(storage, folder)
    yield from listing.files
    for sub in listing.folders:
        yield from walk_files(storage, sub)


def inside(base_path: str, path: str) -> str:
    """`path`, if it stays below the base path: the last line of defence, for paths from any source. Raises UnsafePathError."""
    if path.startswith("/") or "\0" in path or (".." in path and ".." in path.split("/")):
        raise UnsafePathError(
            f"Path {path!r} leads out of {base_path}",
            fix="nothing was touched there; find out which metadata file of the table names it",
        )
    return path


def join(*parts: str) -> str:
    """Join relative path parts, leaving out empty ones: `join("", "a.parquet") == "a.parquet"`."""
    return "/".join(part for part in parts if part)

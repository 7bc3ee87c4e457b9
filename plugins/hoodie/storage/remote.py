"""Every other URL, through fsspec: memory://, s3://, gs://, hdfs:// …"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from hoodie.errors import ConfigError, UnsafePathError, missing_extra
from hoodie.storage.base import File, FileInfo, Listing, inside
from hoodie.storage.content import same_content
from hoodie.storage.outage import is_outage
from hoodie.storage.rights import is_denied

# Their packages make one conditional request of fsspec's exclusive mode. Elsewhere it is a look and then a write: two writers
# could both have the lock.
_EXCLUSIVE = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory"})
_EXTRAS = {
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "azure"),
}
_MODIFIED = ("mtime", "LastModified", "last_modified", "updated", "created")


class FsspecStorage:
    """Files on any file system that fsspec knows; tables are written only where a file can be created exclusively.

    Raises ConfigError for a URL of a file system that is not known or not installed.
    """

    def __init__(self, base_path: str, storage_options: dict[str, Any] | None = None) -> None:
        self._url = base_path.rstrip("/")
        self._options = storage_options or {}
        self._connect()

    def _connect(self) -> None:
        try:
            self._fs, root = self._open_file_system()
        except ImportError as error:
            extra = _EXTRAS.get(self._url.partition("://")[0])
            if extra is not None:
                raise missing_extra(extra, self._url, error) from error
            raise self._unreachable(error) from error
        except ValueError as error:
            raise self._unreachable(error) from error
        except OSError as error:
            if is_outage(error) or is_denied(error):
                raise
            raise self._unreachable(error) from error  # such as a library that cannot be loaded
        self._root = root.rstrip("/")

    def _unreachable(self, error: Exception) -> ConfigError:
        return ConfigError(
            f"Cannot reach {self._url}",
            found=str(error).partition("\n")[0],
            fix="check the URL; install the package of its file system, for hdfs:// also Java and Hadoop",
        )

    def _open_file_system(self) -> tuple[Any, str]:
        """The file system, and the base path in it."""
        import fsspec  # reads every package's and jar's metadata: a second in each of Spark's workers, so only where it is used

        # A cached listing would hide what other processes create and delete.
        file_system, root = fsspec.core.url_to_fs(self._url, use_listings_cache=False, **self._options)
        return file_system, root

    def __getstate__(self) -> tuple[str, dict[str, Any]]:
        return self._url, self._options

    def __setstate__(self, state: tuple[str, dict[str, Any]]) -> None:
        self._url, self._options = state
        self._connect()

    @property
    def base_path(self) -> str:
        return self._url

    def _full(self, path: str) -> str:
        return f"{self._root}/{inside(self._url, path)}" if path else self._root

    def _info(self, entry: dict[str, Any]) -> FileInfo:
        modified = next(filter(None, map(entry.get, _MODIFIED)), 0)
        seconds = modified.timestamp() if isinstance(modified, datetime) else float(modified)
        path = entry["name"].rstrip("/").removeprefix(self._root).lstrip("/")
        return FileInfo(path, int(entry.get("size") or 0), int(seconds * 1000))

    def list(self, folder: str) -> Listing:
        try:
            entries = self._fs.ls(self._full(folder), detail=True, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return Listing()
        infos = sorted(((entry["type"], self._info(entry)) for entry in entries), key=lambda pair: pair[1].path)
        files = tuple(info for kind, info in infos if kind == "file" and info.path != folder)
        return Listing(files, tuple(info.path for kind, info in infos if kind == "directory" and info.path != folder))

    def info(self, path: str) -> FileInfo | None:
        try:
            entry = self._fs.info(self._full(path), refresh=True)
        except FileNotFoundError:
            return None
        return self._info(entry) if entry["type"] != "directory" else None

    def read(self, path: str) -> bytes:
        content: bytes = self._fs.cat_file(self._full(path))
        return content

    def open_input(self, path: str) -> File:
        return self._fs.open(self._full(path), "rb")

    @contextmanager
    def open_output(self, path: str) -> Iterator[File]:
        target = self._full(path)
        if self._fs.exists(target):
            raise FileExistsError(path)
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        try:
            with self._fs.open(target, "wb") as sink:
                yield sink
        except BaseException:
            # Closing has made a file of what was written so far. If it cannot be deleted, the next rollback does.
            with suppress(Exception):
                self._fs.rm_file(target)
            raise

    def create(self, path: str, data: bytes) -> None:
        protocols = {self._fs.protocol} if isinstance(self._fs.protocol, str) else set(self._fs.protocol)
        if protocols.isdisjoint(_EXCLUSIVE):
            raise ConfigError(
                f"Cannot write tables to {self._url}",
                found=f"the file system {'/'.join(sorted(protocols))}, on which two writers can create one file",
                fix=f"use one of {', '.join(sorted(_EXCLUSIVE))}, or a local path; reading from there is possible",
            )
        target = self._full(path)
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(target, data, mode="create")

    def touch(self, path: str) -> None:
        target = self._full(path)
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(target, b"")

    def delete(self, path: str) -> bool:
        try:
            self._fs.rm_file(self._full(path))
        except FileNotFoundError:
            return False
        return True

    def move(self, path: str, to: str) -> bool:
        """The store copies it by itself, then the first one is deleted: four calls. If a file is at `to` both are read: a copy
        that a killed process has left has the same bytes."""
        if self.info(path) is None:
            return False
        if self.info(to) is not None:
            if not same_content(self, path, to):
                raise FileExistsError(errno.EEXIST, "File exists", to)
        else:
            target = self._full(to)
            self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._fs.cp_file(self._full(path), target)
        self.delete(path)
        return True

    def sweep(self, folders: Sequence[str]) -> None:
        """Nothing: there are no unfinished files under names of their own."""

    def delete_folder(self, folder: str) -> None:
        if not folder.strip("/."):
            raise UnsafePathError(f"Refused to delete all of {self._url}", fix="nothing was deleted")
        if self._fs.exists(self._full(folder)):
            self._fs.rm(self._full(folder), recursive=True)

"""A storage for those who look at a table and change nothing: each folder is listed once, whatever is asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from hoodie.storage.base import File, FileInfo, Listing, Storage


class ListedOnce:
    """A storage that remembers its listings, and counts the calls that reach the store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._listings: dict[str, Listing] = {}
        self.calls = 0

    @property
    def base_path(self) -> str:
        return self._storage.base_path

    def list(self, folder: str) -> Listing:
        if folder not in self._listings:
            self.calls += 1
            self._listings[folder] = self._storage.list(folder)
        return self._listings[folder]

    def info(self, path: str) -> FileInfo | None:
        self.calls += 1
        return self._storage.info(path)

    def read(self, path: str) -> bytes:
        self.calls += 1
        return self._storage.read(path)

    def open_input(self, path: str) -> File:
        self.calls += 1
        return self._storage.open_input(path)

    def open_output(self, path: str) -> AbstractContextManager[File]:
        raise self._refused(path)

    def create(self, path: str, data: bytes) -> None:
        raise self._refused(path)

    def touch(self, path: str) -> None:
        raise self._refused(path)

    def delete(self, path: str) -> bool:
        raise self._refused(path)

    def move(self, path: str, to: str) -> bool:
        raise self._refused(path)

    def delete_folder(self, folder: str) -> None:
        raise self._refused(folder)

    def sweep(self, folders: Sequence[str]) -> None:
        raise self._refused(", ".join(folders))

    def _refused(self, path: str) -> PermissionError:
        return PermissionError(f"{path}: a look at a table changes nothing")

"""A storage for readers that look at a table and change nothing: each folder is listed once for all questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from hoodie.storage.base import File, FileInfo, Listing, Storage, inside, join


class ListingCache:
    """A storage that remembers its listings, and counts the calls that reach the store.

    With `folder` it is that folder of the storage, as if it were a table's base path: the metadata table is a table inside a
    table.
    """

    def __init__(self, storage: Storage, folder: str = "") -> None:
        self._storage = storage
        self._folder = folder
        self._listings: dict[str, Listing] = {}
        self.calls = 0

    @property
    def base_path(self) -> str:
        return f"{self._storage.base_path}/{self._folder}" if self._folder else self._storage.base_path

    def list(self, folder: str) -> Listing:
        if folder not in self._listings:
            self.calls += 1
            listing = self._storage.list(self._at(folder))
            self._listings[folder] = listing if not self._folder else self._below(listing)
        return self._listings[folder]

    def forget(self) -> None:
        """List each folder again when it is asked for."""
        self._listings.clear()

    def info(self, path: str) -> FileInfo | None:
        self.calls += 1
        info = self._storage.info(self._at(path))
        return None if info is None else replace(info, path=path)

    def read(self, path: str) -> bytes:
        self.calls += 1
        return self._storage.read(self._at(path))

    def open_input(self, path: str) -> File:
        self.calls += 1
        return self._storage.open_input(self._at(path))

    def _at(self, path: str) -> str:
        return join(self._folder, inside(self.base_path, path))

    def _below(self, listing: Listing) -> Listing:
        start = len(self._folder) + 1
        files = tuple(replace(file, path=file.path[start:]) for file in listing.files)
        folders, dangling = (tuple(path[start:] for path in paths) for paths in (listing.folders, listing.dangling))
        return Listing(files, folders, dangling)

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

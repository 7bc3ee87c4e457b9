"""Where a table lives."""

from hoodie.storage.base import File, FileInfo, Listing, Storage, closing_input, join, walk_files
from hoodie.storage.local import LocalStorage
from hoodie.storage.remote import FsspecStorage


def open_storage(base_path: str) -> Storage:
    """The storage of a base path: a plain path or `file:` URL is local, any other URL goes through fsspec."""
    if base_path.startswith("file:") or "://" not in base_path:
        return LocalStorage(base_path)
    return FsspecStorage(base_path)


__all__ = [
    "File",
    "FileInfo",
    "FsspecStorage",
    "Listing",
    "LocalStorage",
    "Storage",
    "closing_input",
    "join",
    "open_storage",
    "walk_files",
]

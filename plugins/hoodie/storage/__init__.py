"""Where a table lives."""

from hoodie.errors import ConfigError
from hoodie.storage.base import File, FileInfo, Listing, Storage, closing_input, join, walk_files
from hoodie.storage.local import LocalStorage
from hoodie.storage.remote import FsspecStorage
from hoodie.storage.s3 import S3Storage


def open_storage(base_path: str) -> Storage:
    """The storage of a base path: a plain path or `file:` URL is local, any other URL goes through fsspec.

    Raises ConfigError for an empty path, which would be the working directory.
    """
    if not base_path.removeprefix("file:").strip():
        raise ConfigError("The path of the table or source is empty", found=repr(base_path), fix="give a path or URL")
    if base_path.startswith("file:") or "://" not in base_path:
        return LocalStorage(base_path)
    if base_path.startswith(("s3://", "s3a://")):
        return S3Storage(base_path)
    return FsspecStorage(base_path)


__all__ = [
    "File",
    "FileInfo",
    "FsspecStorage",
    "Listing",
    "LocalStorage",
    "S3Storage",
    "Storage",
    "closing_input",
    "join",
    "open_storage",
    "walk_files",
]

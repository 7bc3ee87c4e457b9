"""Where source, table and quarantine are: one spelling for each folder, and none of them inside another."""

from __future__ import annotations

import os
import posixpath
import re

from hoodie.errors import ConfigError
from hoodie.storage import open_storage

_S3 = frozenset({"s3a", "s3n"})


def canonical(path: str) -> str:
    """One spelling for a folder, however it was given.

    Local paths and `file:` URLs are absolute, without links; other URLs have no empty, `.` or `..` steps, and `s3` for `s3a`.
    """
    local = path.removeprefix("file:") if path.startswith("file:") else path
    if local == path and "://" in path:
        scheme, _, rest = path.partition("://")
        return f"{'s3' if scheme in _S3 else scheme}://{posixpath.normpath(rest)}"
    if local != path:
        local = local.removeprefix("//localhost")
    return os.path.realpath(re.sub(r"^/+", "/", local))


def lies_in(path: str, folder: str) -> bool:
    """Whether a canonical path is that folder or inside it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def check_places(table: str, source: str, quarantine: str) -> None:
    """Raises ConfigError for a path that is none, and when files of one would be taken for files of another.

    A table or quarantine inside the source folder is no error: their files are not loaded.
    """
    for path in (table, source, quarantine):
        open_storage(path)
    at, landing, bad = canonical(table), canonical(source), canonical(quarantine)
    if lies_in(landing, at):
        raise ConfigError(
            f"Source folder {source} lies in the table {table}",
            found="files of a table are no deliveries",
            fix="deliver into a folder of its own; nothing was created",
        )
    if lies_in(landing, bad):
        raise ConfigError(
            f"Source folder {source} lies in the quarantine {quarantine}",
            found="rows that could not be loaded would be loaded",
            fix="deliver repaired rows into a folder of their own",
        )
    if lies_in(bad, at) or lies_in(at, bad):
        raise ConfigError(
            f"Quarantine {quarantine} and table {table} lie in one another",
            fix="choose another folder with --quarantine-path",
        )

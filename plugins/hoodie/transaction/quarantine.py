"""Quarantine of files that are in the way, or without an owner: moved aside, and logged."""

from __future__ import annotations

from contextlib import suppress

from hoodie.storage.base import Storage
from hoodie.storage.content import blocks, content_mark
from hoodie.transaction.recovery import recovered

FOLDER = ".hoodie/.quarantine"
_LONGEST = 255  # bytes of a name on local disks


def copy_aside(storage: Storage, path: str) -> str | None:
    """Copy a file of any size below the folder. Returns the copy's path: that of the file, its time (ms since 1970) and a mark of
    its content; None when the file is gone.

    So all contents that ever were at a path are kept, each one once. A copy that a killed process has left is written again
    unless it is whole. Raises OSError when the file changes while it is copied: then it has not been copied.
    """
    info = storage.info(path)
    if info is None:
        return None
    try:
        mark = content_mark(storage, path)
        aside = f"{FOLDER}/{_named(path, f'~{info.modified_ms}-{mark}')}"
        if storage.info(aside) is not None:
            if content_mark(storage, aside) == mark:
                return aside
            storage.delete(aside)
        with suppress(FileExistsError), storage.open_output(aside) as sink:
            for block in blocks(storage, path):
                sink.write(block)
    except FileNotFoundError:
        if storage.info(path) is None:
            return None
        raise
    if content_mark(storage, aside) != mark:
        raise OSError(f"{storage.base_path}/{path} changes while it is copied to {aside}")
    return aside


def _named(path: str, ending: str) -> str:
    """The path with the ending; a name that would be too long for a file system loses its last characters."""
    folder, slash, name = path.rpartition("/")
    shortened = name.encode()[: _LONGEST - len(ending)].decode(errors="ignore")
    return f"{folder}{slash}{shortened}{ending}"


def move_aside(storage: Storage, path: str, why: str) -> str | None:
    """As `copy_aside`, and then the file is deleted."""
    aside = copy_aside(storage, path)
    if aside is not None:
        storage.delete(path)
        recovered(f"moved {path} to {aside}: {why}")
    return aside

"""Disks that are full: the folder, the bytes that are free and those of the file, and what to free."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from hoodie.display import size_of
from hoodie.errors import StorageError

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    """Return whether an error says that a disk is full, or that a user has used the quota."""
    return error.errno in _FULL and not isinstance(error, StorageError)


def full_disk(folder: Path, error: OSError, written: int, size: int | None) -> StorageError:
    """The error for a file in the folder, of which `written` bytes were written; `size` is all of it, if that is known."""
    amount = f"a file of {size_of(size)}" if size is not None else f"a file of which {size_of(written)} were written"
    full = StorageError(
        f"The disk of {folder} is full"
        if error.errno == errno.ENOSPC
        else f"The quota of the disk of {folder} is used up",
        found=f"{size_of(shutil.disk_usage(folder).free)} free, and {amount} did not fit",
        fix="free some of it and try again: `hudi-services clean --explain` says what a clean would remove. Nothing half done "
        "is visible",
    )
    full.errno, full.filename = error.errno, str(folder)
    return full

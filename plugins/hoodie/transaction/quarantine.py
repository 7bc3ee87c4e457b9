"""Files that are in the way, or nobody's: moved aside, and told."""

from __future__ import annotations

from contextlib import suppress

from hoodie.storage.base import Storage, closing_input
from hoodie.storage.once import create_own
from hoodie.transaction.recovery import recovered
from hoodie.view.state import TableState

FOLDER = ".hoodie/.quarantine"
_BLOCK = 8 * 1024 * 1024  # bytes


def quarantine(state: TableState, path: str, why: str) -> None:
    """Move a file of the timeline aside, for whoever wants to know what it was: copied first, then deleted. Nothing happens when
    it is gone."""
    try:
        body = state.storage.read(path)
    except FileNotFoundError:
        return
    aside = f"{FOLDER}/{path.rpartition('/')[2]}"
    create_own(state.storage, aside, body)
    state.storage.delete(path)
    recovered(f"moved {path} to {aside}: {why}")


def copy_aside(storage: Storage, path: str) -> str | None:
    """Copy a file of any size below the folder, by its path and its time. Returns the copy's path; None when the file is gone.

    A copy that a killed process has left is made anew unless it is whole; other versions of the file have other names.
    """
    info = storage.info(path)
    if info is None:
        return None
    aside = f"{FOLDER}/{path}~{info.modified_ms}"
    there = storage.info(aside)
    if there is not None and there.size == info.size:
        return aside
    if there is not None:
        storage.delete(aside)
    with suppress(FileExistsError), closing_input(storage, path) as source, storage.open_output(aside) as sink:
        while block := source.read(_BLOCK):
            sink.write(block)
    return aside


def move_aside(storage: Storage, path: str, why: str) -> str | None:
    """As `copy_aside`, and then the file is deleted."""
    aside = copy_aside(storage, path)
    if aside is not None:
        storage.delete(path)
        recovered(f"moved {path} to {aside}: {why}")
    return aside

"""Files of the timeline that cannot be read and that stand in the way: moved aside by name, and told."""

from __future__ import annotations

from hoodie.storage.once import create_own
from hoodie.transaction.recovery import recovered
from hoodie.view.state import TableState

FOLDER = ".hoodie/.quarantine"


def quarantine(state: TableState, path: str, why: str) -> None:
    """Move a file aside, for whoever wants to know what it was: copied first, then deleted. Nothing happens when it is gone."""
    try:
        body = state.storage.read(path)
    except FileNotFoundError:
        return
    aside = f"{FOLDER}/{path.rpartition('/')[2]}"
    create_own(state.storage, aside, body)
    state.storage.delete(path)
    recovered(f"moved {path} to {aside}: {why}")

"""What the commits of ingestions say in their extra metadata: the positions of sources, and where bad rows are."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.view import TableState
from hudi_services.ingest.source import Position


def find_position(state: TableState, key: str, *, start_fresh: bool) -> Position | None:
    """The newest position under `key`; None where there never was one.

    Raises CorruptTableError or MissingFileError when a commit, or an archived timeline that might hold one, cannot be read:
    loading everything again must be somebody's decision. To start fresh is that decision.
    """
    try:
        return newest_entry(state, key)
    except (CorruptTableError, MissingFileError):
        if not start_fresh:
            raise
        return None


def newest_entry(state: TableState, key: str) -> Position | None:
    """What the newest commit with an entry `key` says there; the archived timeline is opened only when the active one has none.

    Raises CorruptTableError or MissingFileError.
    """
    for instant in _commits(state):
        text = state.commit_metadata(instant).extra.get(key)
        if text:
            return Position(text, instant.time, state.where(instant))
    return None


def _commits(state: TableState) -> Iterator[Instant]:
    """Newest first."""
    yield from reversed(state.timeline.commits)
    for instant in state.archive.newest():
        if instant.action in WRITE_ACTIONS:
            yield instant

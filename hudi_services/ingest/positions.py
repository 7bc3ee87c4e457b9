"""What the commits of ingestions say in their extra metadata: the positions of sources, and where bad rows are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
        for instant, extra in _loads(state, (key,)):
            return Position(extra[key], instant.time, state.where(instant))
    except (CorruptTableError, MissingFileError):
        if not start_fresh:
            raise
    return None


def newest_load(state: TableState, *keys: str) -> Mapping[str, str]:
    """The extra metadata of the newest commit with an entry under one of `keys`; empty where there is none.

    Raises CorruptTableError or MissingFileError.
    """
    return next((extra for _, extra in _loads(state, keys)), {})


def _loads(state: TableState, keys: Sequence[str]) -> Iterator[tuple[Instant, Mapping[str, str]]]:
    """Commits with an entry under one of `keys`, the newest first, and their extra metadata."""
    for instant in _commits(state):
        extra = state.commit_metadata(instant).extra
        if any(extra.get(key) for key in keys):
            yield instant, extra


def _commits(state: TableState) -> Iterator[Instant]:
    """Newest first; the archived timeline is opened only when the active one is through."""
    yield from reversed(state.timeline.commits)
    for instant in state.archive.newest():
        if instant.action in WRITE_ACTIONS:
            yield instant

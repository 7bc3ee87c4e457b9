"""The extra metadata that ingestions leave in commits: the positions of sources, and where bad rows are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hoodie.errors import ConfigError, CorruptTableError, MissingFileError
from hoodie.model.time import Time
from hoodie.timeline import Instant
from hoodie.view import TableState


@dataclass(frozen=True, slots=True)
class Position:
    """The progress of a table in a source: text that only the source reads, and the instant of the commit that holds it."""

    text: str
    instant: str
    where: str = field(compare=False)  # the commit, for messages


@dataclass(frozen=True, slots=True)
class Since:
    """The part of a source to load again: all after `instant`, when its position was `before` (None: none yet).

    `after` are its positions since, the oldest first.
    """

    instant: str
    before: Position | None
    after: tuple[Position, ...]


def find_position(state: TableState, key: str, *, start_fresh: bool) -> Position | None:
    """The newest position under `key`; None where there never was one.

    Raises CorruptTableError or MissingFileError when a commit, or an archived timeline that might hold one, cannot be read:
    a user has to decide that everything is loaded again, by starting fresh.
    """
    try:
        for instant, extra in _loads(state, (key,)):
            return Position(extra[key], instant.time, state.where(instant))
    except (CorruptTableError, MissingFileError):
        if not start_fresh:
            raise
    return None


def find_since(state: TableState, key: str, instant: str) -> Since:
    """The positions under `key` of the commits after `instant`, which is one of a completed action on the active timeline, and
    the one before them. Commits are ordered by the times at which they began, which are their names.

    Raises ConfigError for any other instant, CorruptTableError or MissingFileError where a commit or the archive cannot be read.
    """
    until = _completed(state, instant)
    after: list[Position] = []
    for commit, extra in _loads(state, (key,)):
        result = Position(extra[key], commit.time, state.where(commit))
        if commit.time <= until:
            return Since(instant, result, tuple(sorted(after, key=lambda position: position.instant)))
        after.append(result)
    return Since(instant, None, tuple(sorted(after, key=lambda position: position.instant)))


def _completed(state: TableState, text: str) -> Time:
    """The instant `text`. Raises ConfigError where nothing completed bears it, or the archive has it."""
    title = f"--reload-since {text!r} cannot be loaded from"
    fix = "take the instant of a commit from `hudi-services show timeline`"
    if re.fullmatch(r"[0-9]{14}([0-9]{3})?", text) is None:
        raise ConfigError(title, found="it is no instant, which has 14 or 17 digits", fix=fix)
    instant = Time.of(text)
    states = [action.is_completed for action in state.timeline if action.time == instant]
    if any(states):
        return instant
    if states:
        raise ConfigError(title, found="that action is not complete, so it is not known what it loads", fix=fix)
    for earlier_instant in state.archive.newest():
        if earlier_instant.time <= instant:
            if earlier_instant.time == instant:
                raise ConfigError(
                    title, found="it is archived", fix=f"{fix}, or load files of some days by --from and --to"
                )
            break
    raise ConfigError(title, found="the table has no such instant", fix=fix)


def newest_load(state: TableState, *keys: str) -> Mapping[str, str]:
    """The extra metadata of the newest commit with an entry under one of `keys`; empty where there is none.

    Raises CorruptTableError or MissingFileError.
    """
    return next((extra for _, extra in _loads(state, keys)), {})


def _loads(state: TableState, keys: Sequence[str]) -> Iterator[tuple[Instant, Mapping[str, str]]]:
    """Commits with an entry under one of `keys`, the newest first, and their extra metadata."""
    for instant in state.newest_commits():
        extra = state.commit_metadata(instant).extra
        if any(extra.get(key) for key in keys):
            yield instant, extra

"""The data files that commits wrote, remembered from one operation to the next: bodies of commits never change."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from hoodie.engine.threads import map_on_threads
from hoodie.errors import CorruptTableError
from hoodie.timeline import Instant
from hoodie.timeline.codecs.commit_files import Written, is_large, looked_up, written_by
from hoodie.view.state import TableState

_log = logging.getLogger(__name__)

_READERS = 16  # bodies are waited for, not worked on
_LOGGED = 1_000  # torn bodies that were logged
_REMEMBERED = 400_000  # file names with their sizes, some 200 bytes each

_Key = tuple[str, str, str, int, int]
"""Base path, instant, path, size in bytes and modification time in ms of a body. A file of the archive has many bodies."""


@dataclass(frozen=True, slots=True)
class KnownFiles:
    written: Written
    complete: bool  # otherwise only of the partitions that are in it

    @property
    def weight(self) -> int:
        return 1 + len(self.written) + sum(map(len, self.written.values()))

    def tells(self, partitions: Collection[str] | None) -> bool:
        return self.complete or (partitions is not None and all(name in self.written for name in partitions))


class Memory:
    """Bodies that this process has read, those of the latest operations. Safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[_Key, KnownFiles] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def find(self, key: _Key, partitions: Collection[str] | None) -> Written | None:
        with self._lock:
            remembered = self._entries.get(key)
            if remembered is None or not remembered.tells(partitions):
                return None
            self._entries.move_to_end(key)
            return remembered.written

    def add(self, key: _Key, written: KnownFiles) -> None:
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self._weight -= before.weight
                if not written.complete:
                    written = (
                        before if before.complete else KnownFiles({**before.written, **written.written}, complete=False)
                    )
            self._entries[key] = written
            self._weight += written.weight
            while self._weight > self._limit:
                self._weight -= self._entries.popitem(last=False)[1].weight

    def clear(self) -> None:
        """Forget everything: for those who count storage calls."""
        with self._lock:
            self._entries.clear()
            self._weight = 0


memory = Memory(_REMEMBERED)


def written_files(
    state: TableState, instants: Sequence[Instant], partitions: Collection[str] | None = None
) -> list[Written]:
    """Files that each of these completed write instants wrote, at least in `partitions`; None: everywhere.

    A body that this process has not read yet is read now, several at a time. A torn one counts as empty, which is logged: callers
    that need the files of its commit get an error. Raises MissingFileError for one that is gone.
    """
    remembered = {instant: memory.find(_key(state, instant), partitions) for instant in instants}
    unknown = [instant for instant, written in remembered.items() if written is None]

    def load(instant: Instant) -> Written:
        return _load(state, instant, partitions)

    remembered.update(zip(unknown, map_on_threads(load, unknown, _READERS), strict=True))
    return [remembered[instant] or {} for instant in instants]


def written_partitions(state: TableState, instants: Sequence[Instant]) -> frozenset[str] | None:
    """Every partition in which one of these wrote; None if only decoding a large body whole would show it."""
    large = [i for i in instants if is_large(i.stamp[0]) and memory.find(_key(state, i), None) is None]
    return None if large else frozenset().union(*written_files(state, instants))


def _load(state: TableState, instant: Instant, partitions: Collection[str] | None) -> Written:
    try:
        committed = _read(state, instant, partitions)
    except CorruptTableError as error:
        _log_once(_key(state, instant), str(error))
        return {}
    memory.add(_key(state, instant), committed)
    return committed.written


@lru_cache(_LOGGED)
def _log_once(_: _Key, text: str) -> None:
    """One line for each torn body, however often a process asks for its files."""
    _log.warning("%s; whether its files are there is not known", text)


def _read(state: TableState, instant: Instant, partitions: Collection[str] | None) -> KnownFiles:
    if instant.is_archived or state.has_read(instant):
        return KnownFiles(written_by(state.commit_metadata(instant), instant.time), complete=True)
    try:
        body = state.body(instant)
    except FileNotFoundError:  # archived since the listing, or gone
        return KnownFiles(written_by(state.commit_metadata(instant), instant.time), complete=True)
    written = state.layout.decode_written(body, instant, partitions)
    if looked_up(body, partitions):
        return KnownFiles({**{name: {} for name in partitions or ()}, **written}, complete=False)
    return KnownFiles(written, complete=True)


def _key(state: TableState, instant: Instant) -> _Key:
    return state.storage.base_path, instant.time, state.layout.path(instant), *instant.stamp

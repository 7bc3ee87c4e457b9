"""How instants are named and encoded: layout 1 (table version 6) and layout 2 (versions 8 and 9).

The one place of the differences between the timelines of the table versions (design rule 5; format notes, section 2).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from hoodie.model.commit import CommitMetadata
from hoodie.storage.base import FileInfo
from hoodie.timeline.codecs.commit import (
    decode_commit_avro,
    decode_commit_json,
    encode_commit_avro,
    encode_commit_json,
)
from hoodie.timeline.codecs.written import Written, written_avro, written_json
from hoodie.timeline.instant import Action, Instant, State, format_time

_ACTIONS = frozenset(action.value for action in Action)
_NAME = re.compile(r"^(\d+)(?:_(\d+))?(?:\.([a-z]+))?(?:\.(requested|inflight))?\Z", re.ASCII)


class Layout(Protocol):
    """Names and encodings of one timeline layout."""

    version: int
    folder: str
    archive_folder: str

    def parse(self, file: FileInfo) -> Instant | None:
        """The instant that a file of the timeline folder shows, or None for any other file."""
        ...

    def pending_name(self, instant: Instant) -> str:
        """File name of a requested or inflight instant."""
        ...

    def completed_name(self, instant: Instant, completion_time: str) -> str:
        """File name of the completed state of `instant`."""
        ...

    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes: ...

    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata: ...

    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        """The files that a completed body names, at least those of `partitions`; None: of all. Raises CorruptTableError."""
        ...

    def clean_inflight_body(self, plan: bytes) -> bytes:
        """What `clean.inflight` holds, given the encoded plan."""
        ...


def parse_name(name: str) -> tuple[str, str | None, Action, State] | None:
    """Time, completion time if it is in the name, action and state that a file name of either layout tells; None for others."""
    match = _NAME.match(name)
    if match is None:
        return None
    time, completion, action, state = match.groups()
    if action == "inflight" and state is None:  # `T.inflight`: the commit action has no word of its own
        return time, None, Action.COMMIT, State.INFLIGHT
    if action not in _ACTIONS:
        return None
    if state is not None:
        return time, None, Action(action), State[state.upper()]
    return time, completion, Action(action), State.COMPLETED


def _pending_name(instant: Instant) -> str:
    if instant.action is Action.COMMIT and instant.state is State.INFLIGHT:
        return f"{instant.time}.inflight"
    return f"{instant.time}.{instant.action}.{instant.state.name.lower()}"


def _mtime(file: FileInfo, zone: tzinfo) -> str:
    return format_time(datetime.fromtimestamp(file.modified_ms / 1000, UTC), zone)


class LayoutV1:
    """`.hoodie/<time>.<action>[.<state>]`, JSON commits. The completion time is the file's modification time."""

    version = 1
    folder = ".hoodie"

    def __init__(self, zone: tzinfo, archive: str = "archived") -> None:
        self._zone = zone
        self.archive_folder = f"{self.folder}/{archive}".rstrip("/")

    def parse(self, file: FileInfo) -> Instant | None:
        parsed = parse_name(file.name)
        if parsed is None:
            return None
        time, _, action, state = parsed
        completion = _mtime(file, self._zone) if state is State.COMPLETED else None
        return Instant(time, action, state, completion, file.name, (file.size, file.modified_ms))

    def pending_name(self, instant: Instant) -> str:
        return _pending_name(instant)

    def completed_name(self, instant: Instant, completion_time: str) -> str:
        return f"{instant.time}.{instant.action.completed_as}"

    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes:
        return encode_commit_json(metadata, replace=replace)

    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata:
        return decode_commit_json(data, self._where(instant))

    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        return written_json(data, self._where(instant), partitions)

    def _where(self, instant: Instant) -> str:
        return f"instant {instant} ({self.folder}/{instant.file_name})"

    def clean_inflight_body(self, plan: bytes) -> bytes:
        return plan


class LayoutV2:
    """`.hoodie/timeline/<time>[_<completion time>].<action>[.<state>]`, Avro commits."""

    version = 2

    def __init__(self, zone: tzinfo, folder: str = "timeline", history: str = "history") -> None:
        self._zone = zone
        self.folder = f".hoodie/{folder}"
        self.archive_folder = f"{self.folder}/{history}"

    def parse(self, file: FileInfo) -> Instant | None:
        parsed = parse_name(file.name)
        if parsed is None:
            return None
        time, completion, action, state = parsed
        if state is State.COMPLETED and completion is None:  # left by an upgrade from layout 1
            completion = _mtime(file, self._zone)
        return Instant(time, action, state, completion, file.name, (file.size, file.modified_ms))

    def pending_name(self, instant: Instant) -> str:
        return _pending_name(instant)

    def completed_name(self, instant: Instant, completion_time: str) -> str:
        return f"{instant.time}_{completion_time}.{instant.action.completed_as}"

    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes:
        return encode_commit_avro(metadata, replace=replace)

    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata:
        decode = decode_commit_avro if _of_layout_2(instant) else decode_commit_json
        return decode(data, self._where(instant))

    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        decode = written_avro if _of_layout_2(instant) else written_json
        return decode(data, self._where(instant), partitions)

    def _where(self, instant: Instant) -> str:
        return f"instant {instant} ({self.folder}/{instant.file_name})"

    def clean_inflight_body(self, plan: bytes) -> bytes:
        return b""


def _of_layout_2(instant: Instant) -> bool:
    """Else an upgrade from layout 1 left its file as it was."""
    return "_" in instant.file_name

"""Timeline layouts: names, paths and encodings, and the names of the logs of such a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from datetime import UTC, datetime, tzinfo
from typing import ClassVar

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage
from hoodie.timeline.archive.base import ArchivedTimeline
from hoodie.timeline.archive.writer import ArchiveSettings, ArchiveWriter
from hoodie.timeline.codecs.commit_files import Written
from hoodie.timeline.instant import Action, Instant, State, format_time


class Layout(ABC):
    """The timeline of some table versions. Paths are relative to the base path of the table."""

    folder: str
    archive_folder: str
    names_tell_completion: ClassVar[bool]
    """True if names of completed files have their completion time. If not, only the clock of the storage has it, and reads of
    a range use the begin of commits."""
    logs_tell_writer: ClassVar[bool]
    """True if the time in the name of a log is that of the instant that wrote it. If not, it is that of the log's slice, and
    only blocks and markers have the instant."""
    clustering: ClassVar[Action]
    """The action under which a clustering is requested."""
    may_be_left: ClassVar[bool]
    """True if an upgrade of the table may put another layout in its place."""
    cleans_archived_apart: ClassVar[bool]
    """True if cleans and rollbacks are archived by counts of their own. If not, they are with the commits that they lie
    between."""

    def __init__(self, zone: tzinfo, folder: str, archive_folder: str) -> None:
        self._zone = zone
        self.folder = folder
        self.archive_folder = archive_folder

    @abstractmethod
    def parse(self, file: FileInfo) -> Instant | None:
        """The instant that a file of the timeline folder shows, or None for any other file."""

    @abstractmethod
    def completed_name(self, instant: Instant, completion_time: Time) -> str:
        """File name of the completed state of `instant`."""

    @abstractmethod
    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes:
        """The body of a completed commit; `replace`: of a replacecommit."""

    @abstractmethod
    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata:
        """Raises CorruptTableError naming the file of `instant`."""

    @abstractmethod
    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        """The files that a completed body names, at least those of `partitions`; None: of all. Raises CorruptTableError."""

    @abstractmethod
    def clean_inflight_body(self, plan: bytes) -> bytes:
        """Contents of `clean.inflight`, given the encoded plan."""

    @abstractmethod
    def next_log(self, file_slice: FileSlice, instant: Time, compaction: Time | None) -> LogFileName:
        """The name of the log that the write `instant` adds to a slice, without its write token, which only the task knows.

        `compaction` is the pending compaction that is about to make the next slice of the group; None without one.
        """

    @abstractmethod
    def open_archive(self, storage: Storage) -> ArchivedTimeline:
        """The archived timeline, of which nothing is read yet."""

    @abstractmethod
    def archive_writer(self, storage: Storage, settings: ArchiveSettings) -> ArchiveWriter:
        """The writer that puts instants into the archive."""

    def requested_as(self, action: Action) -> Action:
        """The action under which a plan of `action` waits."""
        return self.clustering if action is Action.CLUSTERING else action

    def pending_name(self, instant: Instant) -> str:
        """File name of a requested or inflight instant."""
        if instant.action is Action.COMMIT and instant.state is State.INFLIGHT:
            return f"{instant.time}.inflight"
        return f"{instant.time}.{instant.action}.{instant.state.name.lower()}"

    def path(self, instant: Instant) -> str:
        """The file that shows the instant's state, of an instant that has its file name."""
        return f"{self.folder}/{instant.file_name}"

    def requested_path(self, time: Time, action: Action) -> str:
        """The file that requests an instant, which holds its plan; `action` is that of the pending instant."""
        return f"{self.folder}/{self.pending_name(Instant(time, action, State.REQUESTED))}"

    def inflight_path(self, time: Time, action: Action) -> str:
        """The file that says that a pending instant is at work."""
        return f"{self.folder}/{self.pending_name(Instant(time, action, State.INFLIGHT))}"

    def _where(self, instant: Instant) -> str:
        return f"instant {instant} ({self.path(instant)})"

    def _changed(self, file: FileInfo) -> Time:
        """When a file was changed last."""
        return format_time(datetime.fromtimestamp(file.modified_ms / 1000, UTC), self._zone)

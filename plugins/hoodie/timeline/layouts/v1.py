"""Layout 1, of table version 6."""

from __future__ import annotations

from collections.abc import Collection
from datetime import tzinfo

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage
from hoodie.timeline.archive.base import ArchivedTimeline
from hoodie.timeline.archive.log_writer import LogArchiveWriter
from hoodie.timeline.archive.logs import LogArchive
from hoodie.timeline.archive.writer import ArchiveSettings, ArchiveWriter
from hoodie.timeline.codecs.commit import decode_commit_json, encode_commit_json
from hoodie.timeline.codecs.commit_files import Written, written_json
from hoodie.timeline.instant import Action, Instant, State
from hoodie.timeline.layouts.base import Layout
from hoodie.timeline.layouts.names import parse_name

_FOLDER = ".hoodie"


class LayoutV1(Layout):
    """`.hoodie/<time>.<action>[.<state>]`, JSON commits. The completion time is the file's modification time."""

    folder = _FOLDER
    names_tell_completion = False
    logs_tell_writer = False
    may_be_left = True
    cleans_archived_apart = True
    clustering = Action.REPLACE_COMMIT

    def __init__(self, zone: tzinfo, archive: str = "archived") -> None:
        super().__init__(zone, _FOLDER, f"{_FOLDER}/{archive}".rstrip("/"))

    def parse(self, file: FileInfo) -> Instant | None:
        parsed = parse_name(file.name)
        if parsed is None:
            return None
        time, _, action, state = parsed
        completion = self._changed(file) if state is State.COMPLETED else None
        return Instant(time, action, state, completion, file.name, (file.size, file.modified_ms))

    def completed_name(self, instant: Instant, completion_time: Time) -> str:
        return f"{instant.time}.{instant.action.completed_as}"

    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes:
        """As JSON."""
        return encode_commit_json(metadata, replace=replace)

    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata:
        return decode_commit_json(data, self._where(instant))

    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        return written_json(data, self._where(instant), partitions)

    def clean_inflight_body(self, plan: bytes) -> bytes:
        return plan

    def next_log(self, file_slice: FileSlice, instant: Time, compaction: Time | None) -> LogFileName:
        """With the instant of the slice, or of the next one, and a version that no log of that slice has: no two writes share
        a file."""
        time = compaction if compaction is not None else file_slice.base_instant
        versions = [log.version for log in file_slice.log_files if log.time == time]
        return LogFileName(file_slice.file_id, time, max(versions, default=0) + 1, "")

    def open_archive(self, storage: Storage) -> ArchivedTimeline:
        return LogArchive(storage, self.archive_folder)

    def archive_writer(self, storage: Storage, settings: ArchiveSettings) -> ArchiveWriter:
        return LogArchiveWriter(storage, self.archive_folder, settings)

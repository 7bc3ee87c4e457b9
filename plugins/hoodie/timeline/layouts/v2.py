"""Layout 2, of table versions 8 and 9."""

from __future__ import annotations

from collections.abc import Collection
from datetime import tzinfo

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage
from hoodie.timeline.archive.base import ArchivedTimeline
from hoodie.timeline.archive.lsm import LsmArchive
from hoodie.timeline.archive.lsm_writer import LsmArchiveWriter
from hoodie.timeline.archive.writer import ArchiveSettings, ArchiveWriter
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json, encode_commit_avro
from hoodie.timeline.codecs.commit_files import Written, written_avro, written_json
from hoodie.timeline.instant import Action, Instant, State
from hoodie.timeline.layouts.base import Layout
from hoodie.timeline.layouts.names import parse_name


class LayoutV2(Layout):
    """`.hoodie/timeline/<time>[_<completion time>].<action>[.<state>]`, Avro commits."""

    names_tell_completion = True
    logs_tell_writer = True
    may_be_left = False
    cleans_archived_apart = False
    clustering = Action.CLUSTERING

    def __init__(
        self, zone: tzinfo, folder: str = "timeline", history: str = "history", *, was_upgraded: bool = False
    ) -> None:
        super().__init__(zone, f".hoodie/{folder}", f".hoodie/{folder}/{history}")
        self._was_upgraded = was_upgraded

    def parse(self, file: FileInfo) -> Instant | None:
        parsed = parse_name(file.name)
        if parsed is None:
            return None
        time, completion, action, state = parsed
        if state is State.COMPLETED and completion is None:  # left by an upgrade from layout 1
            completion = self._changed(file)
        return Instant(time, action, state, completion, file.name, (file.size, file.modified_ms))

    def completed_name(self, instant: Instant, completion_time: Time) -> str:
        return f"{instant.time}_{completion_time}.{instant.action.completed_as}"

    def encode_commit(self, metadata: CommitMetadata, *, replace: bool) -> bytes:
        """As Avro."""
        return encode_commit_avro(metadata, replace=replace)

    def decode_commit(self, data: bytes, instant: Instant) -> CommitMetadata:
        decode = decode_commit_avro if _of_layout_2(instant) else decode_commit_json
        return decode(data, self._where(instant))

    def decode_written(self, data: bytes, instant: Instant, partitions: Collection[str] | None) -> Written:
        decode = written_avro if _of_layout_2(instant) else written_json
        return decode(data, self._where(instant), partitions)

    def clean_inflight_body(self, plan: bytes) -> bytes:
        return b""

    def next_log(self, file_slice: FileSlice, instant: Time, compaction: Time | None) -> LogFileName:
        return LogFileName(file_slice.file_id, instant, 1, "")

    def open_archive(self, storage: Storage) -> ArchivedTimeline:
        return LsmArchive(storage, self.archive_folder, trusts_names=not self._was_upgraded)

    def archive_writer(self, storage: Storage, settings: ArchiveSettings) -> ArchiveWriter:
        return LsmArchiveWriter(storage, self.archive_folder, settings)


def _of_layout_2(instant: Instant) -> bool:
    """False if an upgrade from layout 1 left its file as it was."""
    return "_" in instant.file_name

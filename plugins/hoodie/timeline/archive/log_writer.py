"""Writing the archive of timeline layout 1 (format notes, section 3.1)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import fastavro

from hoodie.errors import CorruptTableError
from hoodie.formats import avro_file
from hoodie.formats.log import BlockType, Header, encode_block
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own
from hoodie.timeline.archive.logs import archive_number
from hoodie.timeline.archive.writer import ArchiveSettings, Entry, StateFile
from hoodie.timeline.codecs.commit import avro_commit, load_json
from hoodie.timeline.instant import Action, Instant, State

_SCHEMA = "HoodieArchivedMetaEntry"
_VERSION = 3  # version of the content of a data block
_NOTHING_YET = {"partitionToWriteStats": {}, "extraMetadata": {"ROLLING_STAT": ""}, "operationType": "UNKNOWN"}


class LogArchiveWriter:
    """Each call of `add` makes one file, `.commits_.archive.<n>_1-0-1` with the next number, in one step."""

    def __init__(self, storage: Storage, folder: str, settings: ArchiveSettings) -> None:
        self._storage = storage
        self._folder = folder
        self._settings = settings

    def add(self, entries: Sequence[Entry]) -> None:
        files = self._storage.list(self._folder).files
        number = max((archive_number(file.name) or 0 for file in files), default=0) + 1
        records = (self._encoded(file) for entry in entries for file in (*entry.pending, entry.completed))
        blocks = iter(lambda: list(islice(records, self._settings.block_entries)), [])
        content = b"".join(map(_block, blocks))
        create_own(self._storage, f"{self._folder}/.commits_.archive.{number}_1-0-1", content)

    def tidy(self) -> int:
        """Hudi since 1.0 merges no archived logs either."""
        return 0

    def _encoded(self, file: StateFile) -> bytes:
        instant = file.instant
        where = f"instant {instant} of table {self._storage.base_path} ({instant.file_name})"
        record = {
            "commitTime": instant.time,
            "actionType": str(instant.action),
            "actionState": instant.state.name,
            "stateTransitionTime": instant.completion_time,
            **dict(_body(instant, file.body, where)),
        }
        sink = io.BytesIO()
        try:
            fastavro.schemaless_writer(sink, avro_file.hudi_schema(_SCHEMA), record)
        except Exception as error:
            raise CorruptTableError(
                f"Cannot archive {where}",
                found=f"a body that is not that of a {instant.action} ({type(error).__name__}: {error})",
                fix="restore the file from a backup; nothing was archived",
            ) from error
        return sink.getvalue()


def _body(instant: Instant, body: bytes, where: str) -> Iterator[tuple[str, Any]]:
    """The member of an entry that holds the body of one state, by its name; none where Hudi stores none."""
    completed = instant.state is State.COMPLETED
    match instant.action:
        case Action.COMMIT | Action.DELTA_COMMIT:
            yield "hoodieCommitMetadata", avro_commit(load_json(body, where)) if body else _NOTHING_YET
        case Action.REPLACE_COMMIT | Action.CLUSTERING if body:
            if completed:
                yield "hoodieReplaceCommitMetadata", avro_commit(load_json(body, where))
            elif instant.state is State.INFLIGHT:
                yield "HoodieInflightReplaceMetadata", avro_commit(load_json(body, where))
            else:
                yield "hoodieRequestedReplaceMetadata", avro_file.decode(body, where)
        case Action.CLEAN if body:
            yield "hoodieCleanMetadata" if completed else "hoodieCleanerPlan", avro_file.decode(body, where)
        case Action.COMPACTION | Action.LOG_COMPACTION if body and instant.state is State.REQUESTED:
            yield "hoodieCompactionPlan", avro_file.decode(body, where)
        case Action.ROLLBACK if completed:
            yield "hoodieRollbackMetadata", avro_file.decode(body, where)


def _block(entries: Sequence[bytes]) -> bytes:
    content = struct.pack(">ii", _VERSION, len(entries))
    content += b"".join(struct.pack(">i", len(entry)) + entry for entry in entries)
    return encode_block(BlockType.AVRO_DATA, {Header.SCHEMA: avro_file.schema_text(_SCHEMA)}, content)

"""Merging one slice into its next base file. Runs in the workers."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass

from hoodie.formats.base_file import BaseFileWriter
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.formats.stitched import open_base_file
from hoodie.markers import MarkerType, create_marker
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import FILE_NAME, RECORD_KEY
from hoodie.model.names import BaseFileName
from hoodie.services.slice_task import SliceTask
from hoodie.storage.base import join
from hoodie.timeline import Action
from hoodie.transaction.fencing import only_while_pending


@dataclass(frozen=True)
class CompactSlice(SliceTask):
    """Task function: (number, slice) -> stat of the new base file.

    Records keep their commit time and sequence number (`hoodie.compaction.preserve.commit.metadata`, always on as in Hudi 1.x).
    Memory holds what the merger may hold, and a row group.
    """

    action = Action.COMPACTION
    not_merged = (FILE_NAME,)

    def __call__(self, task: tuple[int, FileSlice]) -> WriteStat:
        number, file_slice = task
        begun = time.monotonic()
        storage = self.merger.logs.storage
        name = str(BaseFileName(file_slice.file_id, self.write_token(number), self.instant))
        path = join(file_slice.partition, name)
        create_marker(storage, self.instant, path, MarkerType.MERGE)
        updated = deleted = added = 0
        still_wanted = only_while_pending(storage, self.inflight, path)
        with still_wanted, storage.open_output(path) as sink, ExitStack() as stack:
            writer = BaseFileWriter(sink, self.schema, self.avro_schema, self.options, {FILE_NAME: name})
            base = file_slice.base_file
            reader = open_base_file(storage, base) if base is not None else None
            if reader is not None:
                stack.callback(reader.close)
            index = KeyIndexBuilder(self.options, reader.key_index() if reader is not None else None)
            for merged in self.merger.batches(file_slice, reader):
                updated, deleted, added = updated + merged.updated, deleted + merged.deleted, added + merged.added
                (index.add if merged.added else index.keep)(merged.rows[RECORD_KEY])
                writer.write(merged.rows)
            writer.finish(index.build())
        info = storage.info(path)
        return WriteStat(
            file_slice.file_id,
            path,
            file_slice.partition,
            prev_commit=file_slice.base_instant,
            prev_base_file=base.name if base else None,
            num_writes=writer.rows,
            num_inserts=added,
            num_updates=updated,
            num_deletes=deleted,
            file_size=info.size if info else 0,
            upsert_ms=int((time.monotonic() - begun) * 1000),
        )

"""Merging one slice into its next base file. Runs in the workers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import FILE_NAME, RECORD_KEY
from hoodie.services.rewrite.slice_task import SliceTask
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.base_file import BaseFileHandle


@dataclass(frozen=True)
class CompactSlice(SliceTask):
    """Task function: (number, slice) -> stat of the new base file.

    Records keep their commit time and sequence number (`hoodie.compaction.preserve.commit.metadata`, always on as in Hudi 1.x).
    Memory holds what the merger may hold, and a row group.
    """

    not_merged = (FILE_NAME,)
    hides_logs = True

    new_index: bool = False
    """Make the bloom filter and the key range of the rows alone: keys that were deleted do not stay in the footer."""

    def __call__(self, task: tuple[int, FileSlice]) -> WriteStat:
        number, file_slice = task
        target = FileTask(file_slice.partition, file_slice.file_id, file_slice)
        handle = BaseFileHandle(self.writing, self.file, target, number)
        updated = deleted = added = 0
        with handle.open() as writer, ExitStack() as stack:
            base = file_slice.base_file
            reader = self.merger.open(base) if base is not None else None
            if reader is not None:
                stack.callback(reader.close)
            before = reader.key_index() if reader is not None and not self.new_index else None
            index = KeyIndexBuilder(self.file.options, before)
            for merged in self.merger.batches(file_slice, reader):
                updated, deleted, added = updated + merged.updated, deleted + merged.deleted, added + merged.added
                (index.add if merged.added else index.keep)(merged.rows[RECORD_KEY])
                writer.write(merged.rows)
            writer.finish(index.build())
        return handle.stat(inserts=added, updates=updated, deletes=deleted)

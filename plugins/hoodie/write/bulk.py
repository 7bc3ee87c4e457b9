"""bulk_insert: every split writes its rows straight to new files, without index, exchange or small-file packing.

Hudi's default sort mode, `hoodie.bulkinsert.sort.mode=NONE`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileWriter, build_key_index
from hoodie.merge import DELETE
from hoodie.model.commit import WriteStat
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.write.assign import FileTask
from hoodie.write.context import WriteContext
from hoodie.write.handles import FileHandle
from hoodie.write.rows import keyed_rows

# Fresh memory is dear, so a task works on little at a time and takes up the memory of what was written again.
_CHUNK_BYTES = 8 * 1024 * 1024
_PENDING_BYTES = 64 * 1024 * 1024  # of rows that a task holds for its open files
_SMALLEST_BYTES = 4 * 1024 * 1024  # of a row group
_MOST = 4  # times as much may be pending while all row groups are smaller than that


@dataclass(frozen=True)
class BulkInsert:
    """Task function: (number of the split, its batches) -> stats of the files it wrote."""

    context: WriteContext
    new_file_id: Callable[[], str]

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> list[WriteStat]:
        stats: list[WriteStat] = []
        open_files: dict[str, _OpenFile] = {}
        with ExitStack() as stack:
            for rows in keyed_rows(self.context, number, batches, _CHUNK_BYTES):
                kept = rows.filter(pc.invert(rows[DELETE])) if pc.any(rows[DELETE]).as_py() else rows
                for partition, part in _by_partition(kept):
                    file = open_files.get(partition)
                    if file is None:
                        task = FileTask(partition, self.new_file_id(), None)
                        file = open_files[partition] = _OpenFile(self.context, task, number, stack)
                    file.write(part)
                    if file.writer.bytes_written >= self.context.max_file_bytes:
                        stats.append(open_files.pop(partition).close())
                _make_room(open_files.values())
            while open_files:  # a file's keys need not wait for the others
                stats.append(open_files.pop(next(iter(open_files))).close())
        return stats


def _make_room(files: Collection[_OpenFile]) -> None:
    """Write out the largest row groups until what is pending fits."""
    while (pending := sum(file.writer.pending_bytes for file in files)) > _PENDING_BYTES:
        largest = max(files, key=lambda file: file.writer.pending_bytes)
        if largest.writer.pending_bytes < _SMALLEST_BYTES and pending < _MOST * _PENDING_BYTES:
            return
        largest.writer.flush()


@dataclass
class _OpenFile:
    context: WriteContext
    task: FileTask
    number: int
    stack: ExitStack
    keys: list[pa.ChunkedArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.handle = FileHandle(self.context, self.task, self.number)
        self._own = self.stack.enter_context(ExitStack())
        self.writer: BaseFileWriter = self._own.enter_context(self.handle.open())

    def write(self, rows: pa.Table) -> None:
        self.writer.write(self.handle.stamp(rows))
        self.keys.append(rows[RECORD_KEY])

    def close(self) -> WriteStat:
        keys = pa.chunked_array([chunk for column in self.keys for chunk in column.chunks], pa.string())
        self.writer.finish(build_key_index(keys, self.context.base_file))
        self._own.close()
        rows = self.writer.rows
        return self.handle.stat(writes=rows, inserts=rows, updates=0, deletes=0)


def _by_partition(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each partition, in memory of their own: that of one can be given back before that of the others."""
    partitions = pc.unique(rows[PARTITION_PATH]).to_pylist()  # distinct values: few
    if len(partitions) == 1:
        yield partitions[0], rows
        return
    whole = rows.combine_chunks()  # else each `take` would join the chunks of all rows
    order = pc.sort_indices(pc.index_in(rows[PARTITION_PATH], value_set=pa.array(partitions, pa.string())))
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(rows[PARTITION_PATH]).to_pylist()}
    start = 0
    for partition in partitions:
        yield partition, whole.take(order.slice(start, counts[partition]))
        start += counts[partition]

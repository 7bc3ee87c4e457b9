"""bulk_insert: every split writes its rows straight to new files, without index, exchange or small-file packing.

Hudi's default sort mode, `hoodie.bulkinsert.sort.mode=NONE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

_CHUNK_BYTES = 16 * 1024 * 1024  # small enough to take up again the memory of the last one: fresh memory is dear
_PENDING_BYTES = 256 * 1024 * 1024  # of rows that a task holds for its open files


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
                while sum(file.writer.pending_bytes for file in open_files.values()) > _PENDING_BYTES:
                    max(open_files.values(), key=lambda file: file.writer.pending_bytes).writer.flush()
            stats.extend(file.close() for file in open_files.values())
        return stats


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
    partitions = pc.unique(rows[PARTITION_PATH]).to_pylist()  # distinct values: few
    if len(partitions) == 1:
        yield partitions[0], rows
        return
    order = pc.sort_indices(pc.index_in(rows[PARTITION_PATH], value_set=pa.array(partitions, pa.string())))
    ordered = rows.take(order)
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(rows[PARTITION_PATH]).to_pylist()}
    start = 0
    for partition in partitions:
        yield partition, ordered.slice(start, counts[partition])
        start += counts[partition]

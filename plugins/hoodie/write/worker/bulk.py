"""bulk_insert: every split writes its rows straight to new files, without index, exchange or small-file packing.

Hudi's default sort mode, `hoodie.bulkinsert.sort.mode=NONE`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.base_file import BaseFileWriter
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.formats.murmur import murmur2
from hoodie.merge.spill import Spill
from hoodie.model.commit import WriteStat
from hoodie.model.internal_columns import DELETE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.base_file import RowsFile
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.rows import chunks, keyed_rows

# Fresh memory is dear, so a task works on little at a time and takes up the memory of what was written again.
_CHUNK_BYTES = 8 * 1024 * 1024
_PENDING_BYTES = 64 * 1024 * 1024  # bytes of rows that a task holds for its open files
_SMALLEST_BYTES = 4 * 1024 * 1024  # bytes per row group at least
_MOST = 4  # times as much may be pending while all row groups are smaller than that
_OPEN_FILES = 128  # files open per task: rows of further partitions wait in local files until these are closed
_PILES = 64  # local files that they are spread over by their partition


@dataclass(frozen=True)
class BulkInsert:
    """Task function: (number of the split, its batches) -> stats of the files it wrote."""

    context: WriteContext
    new_file_id: Callable[[], str]

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> list[WriteStat]:
        keyed = keyed_rows(self.context, number, batches, _CHUNK_BYTES)
        without_deletes = (
            rows.filter(pc.invert(rows[DELETE])) if pc.any(rows[DELETE]).as_py() else rows for rows in keyed
        )
        return list(self._files(number, without_deletes, 0))

    def _files(self, number: int, tables: Iterable[pa.Table], passed: int) -> Iterator[WriteStat]:
        """Write keyed rows that were put aside `passed` times: as many partitions as files may be open, then the others."""
        open_files: dict[str, _OpenFile] = {}
        others: Spill | None = None
        with ExitStack() as stack:
            for rows in tables:
                for partition, part in _by_partition(rows, open_files, passed):
                    if isinstance(partition, int):
                        if others is None:
                            others = stack.enter_context(Spill(rows.schema, self.context.spill_folder))
                        others.write(partition, part)
                        continue
                    file = open_files.get(partition)
                    if file is None:
                        task = FileTask(partition, self.new_file_id(), None)
                        file = open_files[partition] = _OpenFile(self.context, task, number, stack)
                    file.write(part)
                    if file.writer.bytes_written >= self.context.max_file_bytes:
                        yield open_files.pop(partition).close()
                _make_room(open_files.values())
            while open_files:  # a file's keys need not wait for the others
                yield open_files.pop(next(iter(open_files))).close()
            if others is None:
                return
            for pile in range(_PILES):
                batches = (batch for table in others.batches(pile) for batch in table.to_batches())
                yield from self._files(number, chunks(batches, _CHUNK_BYTES), passed + 1)


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

    def __post_init__(self) -> None:
        self.file = RowsFile(self.context, self.task, self.number)
        self.keys = KeyIndexBuilder(self.context.file.options)
        self._own = self.stack.enter_context(ExitStack())
        self.writer: BaseFileWriter = self._own.enter_context(self.file.open())

    def write(self, rows: pa.Table) -> None:
        self.writer.write(self.file.stamp(rows))
        self.keys.add(rows[RECORD_KEY])

    def close(self) -> WriteStat:
        self.writer.finish(self.keys.build())
        self._own.close()
        return self.file.handle.stat(inserts=self.writer.rows)


def _by_partition(rows: pa.Table, open_files: Collection[str], passed: int) -> Iterator[tuple[str | int, pa.Table]]:
    """The rows of each partition that has an open file or may still get one, and of the others those of each pile.

    Each in memory of their own: that of one can be given back before that of the others.
    """
    partitions = pc.unique(rows[PARTITION_PATH])
    piles = murmur2(partitions, passed) % np.uint32(_PILES)
    room = _OPEN_FILES - len(open_files)
    places: dict[str | int, int] = {}
    place_of_partition = []
    for name, pile in zip(partitions.to_pylist(), piles.tolist(), strict=True):  # distinct values: few
        room -= name not in open_files
        place = name if name in open_files or room >= 0 else pile
        place_of_partition.append(places.setdefault(place, len(places)))
    if len(places) <= 1:
        yield from ((place, rows) for place in places)
        return
    combined = rows.combine_chunks()  # else each `take` would join the chunks of all rows
    place_of_row = np.array(place_of_partition)[pc.index_in(rows[PARTITION_PATH], value_set=partitions).to_numpy()]
    order = pc.sort_indices(pa.array(place_of_row))
    start = 0
    for place, count in zip(places, np.bincount(place_of_row).tolist(), strict=True):
        yield place, combined.take(order.slice(start, count))
        start += count

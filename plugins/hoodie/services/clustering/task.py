"""Writing the rows of some slices into new file groups. Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hoodie.errors import NotCommittedError
from hoodie.formats.key_index import KeyIndexBuilder
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import FILE_NAME, RECORD_KEY
from hoodie.schema import conform
from hoodie.services.clustering.order import UNSORTED, SortOrder
from hoodie.services.clustering.sorting import sorted_rows
from hoodie.services.rewrite.slice_task import SliceTask
from hoodie.write.placement import new_file_id
from hoodie.write.worker.assignment import FileTask
from hoodie.write.worker.base_file import BaseFileHandle

_WRITTEN_ROWS = 1 << 17  # rows that are handed to a file at once
SORTED_ROW_GROUP = 1 << 14
"""Rows of a row group of sorted files: queries pass over whole row groups, by their statistics."""


@dataclass(frozen=True)
class Together:
    """The slices of one partition whose rows go into `outputs` new files. `number` is that of the task."""

    number: int
    slices: tuple[FileSlice, ...]
    outputs: int

    @property
    def size(self) -> int:
        """Bytes that are read."""
        return sum(file_slice.size for file_slice in self.slices)


@dataclass(frozen=True)
class ClusterSlices(SliceTask):
    """Task function: slices -> the stats of the new files.

    Records keep their commit time and sequence number, as in Hudi (`preserveHoodieMetadata`). Memory holds what the merger may
    hold, what sorting may hold, and a row group. Raises NotCommittedError when a row was lost on the way.
    """

    not_merged = (FILE_NAME,)

    order: SortOrder = UNSORTED
    sampled_rows: int = 0  # rows that are sampled for an order that has to know some
    row_group: int | None = None  # rows of a row group; None: as many as its bytes say

    def __call__(self, task: Together) -> list[WriteStat]:
        counts = [0] * len(task.slices)
        rows = self._rows(task, counts)
        if self.order:
            order = self.order.sampled(self._sample(task)) if self.order.wants_sample else self.order
            rows = sorted_rows(rows, order, self.merger.memory)
        stats = list(self._files(task, rows))
        written = sum(stat.num_writes for stat in stats)
        if written != sum(counts):
            raise NotCommittedError(
                f"A clustering of {len(task.slices)} file groups of partition {task.slices[0].partition!r} lost count",
                found=f"{sum(counts)} rows were read and {written} written",
                fix="nothing was changed; report it to the maintainers of this program",
            )
        return stats

    def _rows(self, task: Together, counts: list[int]) -> Iterator[pa.Table]:
        """The rows of the slices, one after the other; `counts` are how many each has."""
        for place, file_slice in enumerate(task.slices):
            base = file_slice.base_file
            with ExitStack() as stack:
                reader = self.merger.open(base) if base is not None else None
                if reader is not None:
                    stack.callback(reader.close)
                expected = reader.rows if reader is not None else 0
                for merged in self.merger.batches(file_slice, reader):
                    expected += merged.added - merged.deleted
                    counts[place] += merged.rows.num_rows
                    if merged.rows.num_rows:
                        yield merged.rows.cast(self.merger.logs.schema) if self.order else merged.rows
            if counts[place] != expected:
                raise NotCommittedError(
                    f"The rows of file group {file_slice.file_id} of partition {file_slice.partition!r} do not add up",
                    found=f"{counts[place]} rows, where its files have {expected}",
                    fix="nothing was changed; `hudi-services doctor --deep` checks its files",
                )

    def _files(self, task: Together, tables: Iterable[pa.Table]) -> Iterator[WriteStat]:
        """New files with about equally many rows each: the last one takes what is left."""
        quota, outputs_left = self._quota(task), task.outputs
        with ExitStack() as stack:
            file: _NewFile | None = None
            for table in tables:
                start = 0
                while start < table.num_rows:
                    if file is None:
                        file, outputs_left = _NewFile(self, task, stack), outputs_left - 1
                    most = _WRITTEN_ROWS if quota is None or not outputs_left else min(_WRITTEN_ROWS, quota - file.rows)
                    if self.row_group is not None:
                        most = min(most, file.room(self.row_group))
                    file.write(table.slice(start, most))
                    start += most
                    if quota is not None and outputs_left and file.rows >= quota:
                        yield file.finish()
                        file = None
            if file is not None:
                yield file.finish()

    def _sample(self, task: Together) -> pa.Table:
        """Rows of base files, evenly chosen, with the columns by which rows are ordered."""
        logs, samples = self.merger.logs, []
        sort_schema = pa.schema([logs.schema.field(name) for name in self.order.columns])
        bases = [file_slice.base_file for file_slice in task.slices if file_slice.base_file is not None]
        share = max(1, self.sampled_rows // max(1, len(bases)))
        for base in bases:
            with self.merger.open(base) as reader:
                step = max(1, reader.rows // share)
                for batch in logs.keys.rows(sort_schema.names, reader.batches):
                    rows = conform(batch, sort_schema)
                    samples.append(rows.take(pa.array(np.arange(0, rows.num_rows, step))))
        return pa.concat_tables(samples) if samples else sort_schema.empty_table()

    def _quota(self, task: Together) -> int | None:
        """Rows of a file, by the base files; None: as many as there are."""
        if task.outputs == 1:
            return None
        rows = 0
        for base in (file_slice.base_file for file_slice in task.slices):
            if base is not None:
                with self.merger.open(base) as reader:
                    rows += reader.rows
        return -(-rows // task.outputs) or None


class _NewFile:
    """A file group that is made. When something goes wrong inside of `stack`, its file is not completed."""

    def __init__(self, cluster: ClusterSlices, task: Together, stack: ExitStack) -> None:
        target = FileTask(task.slices[0].partition, new_file_id(), None)
        self._handle = BaseFileHandle(cluster.writing, cluster.file, target, task.number)
        self._index = KeyIndexBuilder(cluster.file.options)
        self._own = stack.enter_context(ExitStack())
        self._writer = self._own.enter_context(self._handle.open())

    @property
    def rows(self) -> int:
        return self._writer.rows

    def room(self, row_group: int) -> int:
        """Number of rows that fit into a row group that has `row_group` rows; a full one is written."""
        partial = self._writer.rows % row_group
        if not partial:
            self._writer.flush()
        return row_group - partial

    def write(self, rows: pa.Table) -> None:
        self._index.add(rows[RECORD_KEY])
        self._writer.write(rows)

    def finish(self) -> WriteStat:
        self._writer.finish(self._index.build())
        self._own.close()
        return self._handle.stat(inserts=self._writer.rows)

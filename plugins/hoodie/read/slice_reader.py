"""The rows of a slice that has logs: base file and logs merged, a batch at a time, in bounded memory.

The rows of the logs usually fit into memory, and the base file is streamed past them. If not, they are put into local files,
twice: first by the hash of their key, so that all rows of a key come together and can be reduced to one; then by the position of
their key in the base file, so that its rows can be streamed once, in their order, with the few that they meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.keys.memory import MergeMemory
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader, open_base_file
from hoodie.formats.dictionary_columns import coded, coded_columns
from hoodie.formats.murmur import murmur2
from hoodie.merge import BaseMerger, MergedBatch, Overlay
from hoodie.merge.spill import Spill
from hoodie.model.files import BaseFile, FileSlice
from hoodie.model.internal_columns import POSITION
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.read.logs import LogReader, SliceLogs
from hoodie.schema import conform, top_level

_PART = 4  # a part of the logs takes a quarter of the memory: reducing and merging it takes copies
_NARROW_ROWS = 1 << 14  # rows of the base file at a time, where memory is short
_MAX_PILES = 512
_NEW = -1  # the pile of rows whose key is not in the base file


@dataclass(frozen=True)
class SliceMerger:
    """Merges slices. Picklable."""

    logs: LogReader
    memory: MergeMemory

    @property
    def copied(self) -> frozenset[str]:
        """Text columns at whose values of stored rows a merge does not look."""
        return self.logs.rules.copied(self.logs.schema, self.logs.keys.columns.names)

    def open(self, base: BaseFile) -> BaseFileReader | BootstrapFileReader:
        """The base file for `batches`."""
        return open_base_file(self.logs.storage, base, self.copied, self.logs.columns)

    def batches(
        self, file_slice: FileSlice, reader: BaseFileReader | BootstrapFileReader | None
    ) -> Iterator[MergedBatch]:
        """The rows of the slice, with the columns of `logs.schema`: the rows of the base file in their order, then new ones.

        `reader` has the base file open, perhaps with `copied` as dictionaries, which they stay; None when the slice has none.
        """
        logs = self.logs.open(file_slice)
        yield from self._batches(file_slice, logs, logs.rows(self.memory), reader)

    def _batches(
        self,
        file_slice: FileSlice,
        logs: SliceLogs,
        rows: pa.Table | None,
        reader: BaseFileReader | BootstrapFileReader | None,
    ) -> Iterator[MergedBatch]:
        """`rows` are what the logs add up to, None when they do not fit."""
        if rows is None:
            yield from self._in_parts(file_slice, logs, reader)
            return
        merger = self._merger(logs, rows)
        for batch in self._base(logs, reader):
            yield self._conformed(merger.merge(batch))
        yield self._added(merger)

    def unordered(
        self,
        file_slice: FileSlice,
        reader: BaseFileReader | BootstrapFileReader | None,
        groups: Sequence[int] | None,
        columns: Sequence[str],
        *,
        by_position: bool,
    ) -> Iterator[pa.Table]:
        """The rows of the slice, in any order and for that sooner: at least the named columns. Rows of row groups of the base
        file other than `groups` (None: all) may be left out: of those groups only keys and ordering values are read, to find
        the valid rows of the logs. With `by_position` not even keys are read, if all logs have the numbers of their rows."""
        logs = self.logs.open(file_slice)
        numbered = logs.by_position(columns, reader) if by_position and isinstance(reader, BaseFileReader) else None
        rows = (numbered or logs).rows(self.memory)
        if rows is None or logs.partial is not None:
            yield from (merged.rows for merged in self._batches(file_slice, logs, rows, reader))
            return
        logs = numbered or logs
        schema, key, ordering = logs.reader.schema, logs.identity[0], self.logs.rules.base_ordering
        overlay = Overlay(rows, ordering, key)
        if reader is not None:
            requested = range(reader.row_groups) if groups is None else groups
            for batch in self._keyed(reader, requested, schema, key):
                yield overlay.uncovered(batch).select(schema.names)
            others = [number for number in range(reader.row_groups) if number not in requested]
            # Without ordering values a row of the logs wins, but as often as its key: inserts may have put it there twice.
            if others and (ordering or key != POSITION):
                compared = [name for name in schema.names if name in (key, *top_level(ordering))]
                for batch in self._keyed(reader, others, pa.schema([schema.field(name) for name in compared]), key):
                    overlay.meet(batch)
        yield conform(overlay.winning_rows(), schema)

    def _keyed(
        self, reader: BaseFileReader | BootstrapFileReader, groups: Sequence[int], schema: pa.Schema, key: str
    ) -> Iterator[pa.Table]:
        """The columns of `schema` of some row groups, and `key`, which is one of them or the row's number in the file."""
        numbers = reader.row_numbers(groups) if key == POSITION and isinstance(reader, BaseFileReader) else None
        start = 0
        for batch in self.logs.keys.rows(schema.names, lambda names: reader.batches(names, groups)):
            rows = conform(batch, schema)
            if numbers is not None:
                rows = rows.append_column(POSITION, pa.array(numbers[start : start + rows.num_rows]))
                start += rows.num_rows
            yield rows

    def log_rows(self, file_slice: FileSlice, logs: SliceLogs) -> Iterator[pa.Table]:
        """The merged rows of the logs alone (see `SliceLogs.rows`), at once or, if they do not fit, in parts of some keys
        each."""
        rows = logs.rows(self.memory)
        if rows is not None:
            yield rows
            return
        with Spill(logs.empty.schema, self.memory.folder) as by_key:
            _, piles = self._spill_by_key(file_slice, logs, by_key)
            for pile in range(piles):
                yield logs.reduced([by_key.read(pile)])

    def _in_parts(
        self, file_slice: FileSlice, logs: SliceLogs, reader: BaseFileReader | BootstrapFileReader | None
    ) -> Iterator[MergedBatch]:
        schema, folder = logs.empty.schema, self.memory.folder
        with ExitStack() as stack:
            by_key = stack.enter_context(Spill(schema, folder))
            row_bytes, piles = self._spill_by_key(file_slice, logs, by_key)
            # No more log rows meet a range of the base file than it has rows: their bytes are bounded too.
            step = max(1, self.memory.bytes // _PART // row_bytes)
            by_place = stack.enter_context(Spill(schema, folder))
            for pile in range(piles):
                rows = logs.reduced([by_key.read(pile)]).combine_chunks()
                self._spill_by_place(rows, reader, step, by_place)
            yield from self._by_range(logs, reader, step, by_place)
            for rows in by_place.batches(_NEW):
                yield self._added(self._merger(logs, rows))

    def _spill_by_key(self, file_slice: FileSlice, logs: SliceLogs, spill: Spill) -> tuple[int, int]:
        """Put all log rows aside by the hash of their key; returns bytes of a row, and the number of piles."""
        # Compressed Arrow columns are seldom less than a tenth of what they are in memory.
        expected = 10 * sum(log.info.size for log in file_slice.log_files)
        piles = min(_MAX_PILES, max(8, expected * _PART // self.memory.bytes))
        count = size = 0
        for rows in logs.batches():
            count, size = count + rows.num_rows, size + rows.nbytes
            places = murmur2(rows[RECORD_KEY], 0) % np.uint32(piles)
            order = np.argsort(places, kind="stable")
            bounds = np.searchsorted(places[order], np.arange(piles + 1))
            sorted_rows = rows.take(pa.array(order))
            for pile in np.flatnonzero(np.diff(bounds)).tolist():
                spill.write(pile, sorted_rows.slice(bounds[pile], bounds[pile + 1] - bounds[pile]))
        return max(1, size // max(1, count)), piles

    def _spill_by_place(
        self, rows: pa.Table, reader: BaseFileReader | BootstrapFileReader | None, step: int, spill: Spill
    ) -> None:
        """Spill rows (one a key) by the range of the base file that has their key."""
        if not rows.num_rows:
            return
        keys = rows[RECORD_KEY].combine_chunks()
        fresh = np.ones(rows.num_rows, dtype=bool)
        start = 0
        for batch in self.logs.keys.rows([RECORD_KEY], reader.batches) if reader is not None else ():
            key_places = pc.index_in(batch[RECORD_KEY], value_set=keys)
            places = np.flatnonzero(pc.is_valid(key_places).to_numpy())
            hits = pc.drop_null(key_places).to_numpy().astype(np.int64)
            fresh[hits] = False
            for number in np.unique((start + places) // step).tolist():
                matches = np.unique(hits[(start + places) // step == number])
                spill.write(number, rows.take(pa.array(matches)))
            start += batch.num_rows
        spill.write(_NEW, rows.filter(pa.array(fresh)))

    def _by_range(
        self, logs: SliceLogs, reader: BaseFileReader | BootstrapFileReader | None, step: int, by_place: Spill
    ) -> Iterator[MergedBatch]:
        start, number, merger = 0, -1, None
        for read_batch in self._base(logs, reader, min(step, _NARROW_ROWS)):
            for batch in _cut(read_batch, start, step):
                if start // step != number:
                    number = start // step
                    matches = by_place.read(number)
                    merger = self._merger(logs, _once(matches)) if matches.num_rows else None
                start += batch.num_rows
                yield MergedBatch(batch, 0, 0) if merger is None else self._conformed(merger.merge(batch))

    def _base(
        self, logs: SliceLogs, reader: BaseFileReader | BootstrapFileReader | None, rows: int = 1 << 17
    ) -> Iterator[pa.Table]:
        if reader is None:
            return
        schema = self.logs.schema
        if logs.partial is None:  # else values are compared with the marker of one that is not given
            schema = coded(schema, coded_columns(reader.schema))
        for batch in self.logs.keys.rows(schema.names, partial(reader.batches, batch_rows=rows)):
            yield conform(batch, schema)

    def _merger(self, logs: SliceLogs, rows: pa.Table) -> BaseMerger:
        return BaseMerger(rows, self.logs.schema.names, self.logs.rules.base_ordering, logs.partial)

    def _conformed(self, merged: MergedBatch) -> MergedBatch:
        schema = coded(self.logs.schema, coded_columns(merged.rows.schema))
        return MergedBatch(conform(merged.rows, schema), merged.updated, merged.deleted)

    def _added(self, merger: BaseMerger) -> MergedBatch:
        rows = conform(merger.inserts(), self.logs.schema)
        return MergedBatch(rows, 0, 0, rows.num_rows)


def _cut(rows: pa.Table, start: int, step: int) -> Iterable[pa.Table]:
    """Rows that begin at place `start`, cut where a new range begins."""
    first = step - start % step
    cuts = [0, *range(first, rows.num_rows, step), rows.num_rows]
    return [rows.slice(low, high - low) for low, high in pairwise(cuts)]


def _once(rows: pa.Table) -> pa.Table:
    """A key that occurs twice in a range of the base file was spilled for each batch that has it."""
    keys = rows[RECORD_KEY].combine_chunks().dictionary_encode().indices.to_numpy()
    _, first = np.unique(keys, return_index=True)
    return rows if len(first) == rows.num_rows else rows.take(pa.array(np.sort(first)))

"""Merging incoming rows into the rows of a base file, batch by batch. Pure Arrow in, Arrow out.

A base file is streamed: memory holds one batch of it and the incoming rows of its file group, whatever its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.log import RESET
from hoodie.merge.batch import DELETE
from hoodie.merge.ordering import incoming_wins
from hoodie.merge.partial import PartialUpdate
from hoodie.model.meta_columns import COMMIT_SEQNO, COMMIT_TIME, RECORD_KEY


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """What became of one batch: the rows to write, and how many were updated, deleted and added."""

    rows: pa.Table
    updated: int
    deleted: int
    added: int = 0


class BaseMerger:
    """Applies incoming rows (at most one a key) to the batches of one base file, then tells which are left to insert."""

    def __init__(
        self,
        incoming: pa.Table,
        columns: Sequence[str],
        ordering: Sequence[str],
        partial: PartialUpdate | None = None,
        *,
        stamps_filled: bool = False,
    ) -> None:
        """`incoming` has `columns` and `__delete`; with only deletes, the record key is enough of `columns`. Rows from logs also
        have `__reset`, where they win whatever their ordering values.

        `ordering` is empty when the incoming row always wins (COMMIT_TIME_ORDERING, delete by key). With `partial` the row that
        stands is filled from the other; `stamps_filled` gives a stored row that a late one fills the late one's commit time and
        sequence number, as a write does: it was changed by that write.
        """
        self._incoming = incoming.combine_chunks()
        # Deletions have nulls in columns that the table requires: only the rows that replace others must have values.
        present = self._incoming.select([name for name in columns if name in incoming.schema.names])
        self._rows = present.cast(pa.schema([field.with_nullable(True) for field in present.schema]))
        self._ordering = tuple(ordering)
        self._partial = partial
        self._stamps_filled = stamps_filled
        self._keys = _one_chunk(self._incoming[RECORD_KEY])
        self._deletes = _one_chunk(self._incoming[DELETE])
        self._resets = _one_chunk(self._incoming[RESET]) if RESET in incoming.schema.names else None
        self._matched = np.zeros(self._incoming.num_rows, dtype=bool)

    def merge(self, batch: pa.Table) -> MergedBatch:
        """The rows of `batch` (columns as `columns`, in its order) after the incoming ones; updated rows keep their place."""
        found = pc.index_in(_one_chunk(batch[RECORD_KEY]), value_set=self._keys)
        positions = pc.drop_null(found)
        if len(positions) == 0:
            return MergedBatch(batch, 0, 0)
        self._matched[positions.to_numpy()] = True
        hit = pc.is_valid(found)
        deletes = self._deletes.take(positions)
        if self._ordering:
            new = self._incoming.select(self._ordering).take(positions)
            old = batch.select(self._ordering).filter(hit)
            wins = _one_chunk(incoming_wins(new, old, self._ordering))
            if self._resets is not None:
                wins = pc.or_(wins, self._resets.take(positions))
        else:
            wins = pa.repeat(True, len(positions))
        replaces, removes = _numpy(pc.and_not(wins, deletes)), _numpy(pc.and_(wins, deletes))
        late = ~_numpy(pc.or_(wins, deletes)) if self._partial is not None else np.zeros_like(replaces)
        updated, deleted = int(replaces.sum()), int(removes.sum())
        if not updated and not deleted and not late.any():
            return MergedBatch(batch, 0, 0)
        # One `take` from the old rows followed by the incoming ones makes the batch: half the time of replacing by column.
        places = np.flatnonzero(_numpy(hit))
        order = np.arange(batch.num_rows, dtype=np.int64)
        incoming = batch.num_rows + _numpy(positions).astype(np.int64)
        order[places[replaces]] = incoming[replaces]
        kept = np.delete(order, places[removes])
        if not updated and not late.any():
            return MergedBatch(batch.take(pa.array(kept)), 0, deleted)
        both = pa.concat_tables([batch.cast(self._rows.schema), self._rows])
        rows = both.take(pa.array(kept))
        if self._partial is not None:
            other = order.copy()
            other[places[replaces]] = places[replaces]
            other[places[late]] = incoming[late]
            other = np.delete(other, places[removes])
            rows, filled = self._partial.filled(rows, both, kept, other)
            filled &= np.isin(kept, places[late])
            updated += int(filled.sum())
            if self._stamps_filled and filled.any():
                rows = _replaced(rows, both, (COMMIT_TIME, COMMIT_SEQNO), np.where(filled, other, kept))
        return MergedBatch(rows.cast(batch.schema), updated, deleted)

    def inserts(self) -> pa.Table:
        """The incoming rows that met no stored row and are not deletes, with `columns`; call it after the last batch."""
        fresh = pa.array(~self._matched)
        return self._rows.filter(pc.and_not(fresh, self._deletes))


def _replaced(rows: pa.Table, source: pa.Table, names: Sequence[str], places: np.ndarray) -> pa.Table:
    """`rows` with the named columns taken from `places` of `source`."""
    for name in names:
        position = rows.schema.get_field_index(name)
        rows = rows.set_column(position, rows.schema.field(position), source[name].take(pa.array(places)))
    return rows


def _numpy(array: pa.Array) -> np.ndarray:
    values: np.ndarray = array.to_numpy(zero_copy_only=False)
    return values


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

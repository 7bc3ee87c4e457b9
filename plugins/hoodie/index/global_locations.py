"""Joining incoming rows with stored keys of all partitions: where each row lives, and which keys move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.index.locations import RecordLocations
from hoodie.merge import incoming_wins
from hoodie.model.internal_columns import DELETE, GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import top_level


@dataclass(frozen=True)
class Across:
    """How a key that is stored in another partition than that of its row is treated.

    With `moves` the row is compared with the stored one by the columns `ordering` (none: it wins), as Hudi does: if it wins, the
    stored row is deleted there and the row is new in its partition; if not, it goes where the key is, and loses there. Deletions
    go to the key. Without `moves` each row goes to the key, and gets the stored values of the columns `partition_columns`:
    a row whose values are those of another folder would be missed by each query that filters on them.
    """

    moves: bool
    ordering: tuple[str, ...]
    partition_columns: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of stored rows that have to be read in addition to their keys."""
        return tuple(top_level(self.ordering)) if self.moves else self.partition_columns

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        """Join incoming rows (`_hoodie_record_key`, at most one row for each, `_hoodie_partition_path`, `@delete`, the ordering
        columns) with stored keys (`_hoodie_record_key`, `columns`, `@group`, `@position`)."""
        if stored is None or not stored.num_rows or not incoming.num_rows:
            return RecordLocations.nowhere(incoming.num_rows)
        matches = pc.index_in(stored[RECORD_KEY], value_set=incoming[RECORD_KEY].combine_chunks())
        hits = stored.filter(pc.is_valid(matches))
        rows = pc.drop_null(matches).to_numpy().astype(np.int64)
        groups = hits[GROUP].to_numpy().astype(np.int64)
        order = np.lexsort((groups, rows))
        hits, rows, groups = hits.take(pa.array(order)), rows[order], groups[order]
        stored_partitions = pa.array(list(partition_of_group), pa.string()).take(pa.array(groups))
        leaves = self._leaves(incoming.take(pa.array(rows)), hits, stored_partitions)
        begins = np.ones(len(rows), dtype=bool)  # a key may occur twice in a group
        begins[1:] = (np.diff(rows) != 0) | (np.diff(groups) != 0)
        starts = np.flatnonzero(begins)
        if len(starts):
            leaves = np.logical_and.reduceat(leaves, starts)
        once = np.diff(np.append(starts, len(rows))) == 1
        rows, groups, positions = rows[starts], groups[starts], hits[POSITION].to_numpy()[starts]
        fresh = np.ones(incoming.num_rows, dtype=bool)
        fresh[rows[~leaves]] = False
        partition_values = None if self.moves else hits.select(self.partition_columns).take(pa.array(starts))
        return RecordLocations(
            rows, groups, np.where(once, positions, -1), np.flatnonzero(fresh), leaves, partition_values
        )

    def _leaves(self, incoming: pa.Table, stored: pa.Table, stored_partitions: pa.Array) -> np.ndarray:
        """bool per pair: the stored row is deleted, as its key moves."""
        if not self.moves:
            return np.zeros(len(stored_partitions), dtype=bool)
        away = pc.not_equal(incoming[PARTITION_PATH], stored_partitions)
        wins = incoming_wins(incoming, stored, self.ordering)
        moved: np.ndarray = pc.and_(pc.and_(away, wins), pc.invert(incoming[DELETE])).to_numpy()
        return moved

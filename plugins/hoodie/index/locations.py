"""Joining incoming rows with stored keys: where each row lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

NOWHERE = -1  # the position of a key that is in a log


@dataclass(frozen=True)
class RecordLocations:
    """Locations of incoming rows: `rows[i]` (index into the incoming rows) is in file group `groups[i]`; `new` have no location.

    A key that is stored in several file groups appears once for each. `positions[i]` is its row in the base file of the group, -1
    if it has none or several, or if positions were not asked for.

    With a global index `leaves` says for `rows[i]` whether it leaves that group, in which it is deleted, for a place among `new`;
    the others are written to the partition of their group, instead of their own, perhaps with the `stored_values` of some
    columns.
    """

    rows: np.ndarray
    groups: np.ndarray
    positions: np.ndarray
    new: np.ndarray
    leaves: np.ndarray | None = None
    stored_values: pa.Table | None = None

    @staticmethod
    def nowhere(rows: int) -> RecordLocations:
        """No row is stored."""
        nothing = np.zeros(0, dtype=np.int64)
        return RecordLocations(nothing, nothing, nothing, np.arange(rows, dtype=np.int64))


def tag(incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
    """Join incoming rows (`_hoodie_record_key`, `_hoodie_partition_path`, at most one row for both) with stored keys.

    `stored` has `_hoodie_record_key`, `@group` and perhaps `@position`; None when there are none.
    """
    if stored is None or not stored.num_rows or not incoming.num_rows:
        return RecordLocations.nowhere(incoming.num_rows)
    keys = incoming[RECORD_KEY]
    if pc.count_distinct(keys).as_py() < incoming.num_rows:  # one key in two partitions: compare both
        partitions = pa.array(list(partition_of_group), pa.string()).take(stored[GROUP].combine_chunks())
        stored = stored.set_column(0, RECORD_KEY, pc.binary_join_element_wise(partitions, stored[RECORD_KEY], "\0"))
        keys = pc.binary_join_element_wise(incoming[PARTITION_PATH], keys, "\0")
    matches = pc.index_in(stored[RECORD_KEY], value_set=keys.combine_chunks())
    hits = pc.is_valid(matches)
    rows = _numpy(matches.filter(hits)).astype(np.int64)
    groups = _numpy(stored[GROUP].filter(hits)).astype(np.int64)
    same = _partition_numbers(incoming, partition_of_group)[rows] == _group_numbers(partition_of_group)[groups]
    positions = (
        _numpy(stored[POSITION].filter(hits)) if POSITION in stored.schema.names else np.full(len(rows), NOWHERE)
    )
    rows, groups, positions = _pairs(rows[same], groups[same], positions[same])
    fresh = np.ones(incoming.num_rows, dtype=bool)
    fresh[rows] = False
    return RecordLocations(rows, groups, positions, np.flatnonzero(fresh))


def _pairs(rows: np.ndarray, groups: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair of row and group once, in order, with its one position if it has just one."""
    order = np.lexsort((groups, rows))
    rows, groups, positions = rows[order], groups[order], positions[order]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = (np.diff(rows) != 0) | (np.diff(groups) != 0)
    starts = np.flatnonzero(begins)
    if len(starts) == len(rows):
        return rows, groups, positions
    stands = np.add.reduceat(positions != NOWHERE, starts, dtype=np.int64)
    highest = np.maximum.reduceat(positions, starts)
    return rows[starts], groups[starts], np.where(stands == 1, highest, NOWHERE)


def _partition_numbers(incoming: pa.Table, partition_of_group: Sequence[str]) -> np.ndarray:
    distinct = pa.array(sorted(set(partition_of_group)), pa.string())
    return _numpy(pc.fill_null(pc.index_in(incoming[PARTITION_PATH], value_set=distinct), -1))


def _group_numbers(partition_of_group: Sequence[str]) -> np.ndarray:
    number = {partition: place for place, partition in enumerate(sorted(set(partition_of_group)))}
    return np.array([number[partition] for partition in partition_of_group], dtype=np.int64)


def _numpy(values: pa.ChunkedArray | pa.Array) -> np.ndarray:
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    result: np.ndarray = array.to_numpy(zero_copy_only=False)
    return result

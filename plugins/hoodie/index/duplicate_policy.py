"""Policy of an insert for rows whose keys the table has (`hoodie.datasource.insert.dup.policy`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import KnownKeyError
from hoodie.index.base import Index
from hoodie.index.locations import RecordLocations
from hoodie.model.files import FileSlice
from hoodie.model.internal_columns import GROUP
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.view import TableState


@dataclass(frozen=True)
class UnknownOnly:
    """Leaves out the rows whose keys `index` finds in their partition, or `anywhere`; with `fails` it takes none. Rows of one key
    may come more than once."""

    index: Index
    fails: bool
    anywhere: bool = False  # a key of another partition is known, too

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> Sequence[object]:
        return self.index.stored_keys(state, slices, parallelism)

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        """Rows whose keys are stored are nowhere in what is given. Raises KnownKeyError."""
        every = RecordLocations.nowhere(incoming.num_rows)
        if stored is None or not stored.num_rows or not incoming.num_rows:
            return every
        keys, incoming_keys = stored[RECORD_KEY], incoming[RECORD_KEY]
        if not self.anywhere:
            partitions = pa.array(list(partition_of_group), pa.string()).take(stored[GROUP].combine_chunks())
            keys = pc.binary_join_element_wise(partitions, keys, "\0")
            incoming_keys = pc.binary_join_element_wise(incoming[PARTITION_PATH], incoming_keys, "\0")
        duplicate = np.asarray(pc.is_in(incoming_keys, value_set=keys.combine_chunks()).combine_chunks())
        if self.fails and duplicate.any():
            place = int(np.flatnonzero(duplicate)[0])
            key, partition = (incoming[name][place].as_py() for name in (RECORD_KEY, PARTITION_PATH))
            raise KnownKeyError(
                f"A row to insert has a key that the table has already: {key!r:.200} in partition {partition!r:.200}",
                found="hoodie.datasource.insert.dup.policy=fail",
                fix="nothing was written; write by upsert, or leave such rows out by hoodie.datasource.insert.dup.policy=drop",
            )
        return RecordLocations(every.rows, every.groups, every.positions, every.new[~duplicate])

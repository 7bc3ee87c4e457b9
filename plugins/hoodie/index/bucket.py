"""The BUCKET index: the file group of a row follows from its key, and nothing has to be read (`hoodie.index.type=BUCKET`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.index.buckets import Homes
from hoodie.index.locations import NOWHERE, RecordLocations
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.view import TableState


@dataclass(frozen=True)
class BucketIndex:
    """Every row belongs to a file group: to one that is there, by its place among the slices, or to one that is to come. That has
    a number past theirs, by which `home` knows it."""

    homes: Homes
    partitions: tuple[str, ...]  # all of the incoming rows
    numbers: tuple[int, ...]  # number of each slice, among the homes

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> Sequence[object]:
        return ()

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        """Every row is in one file group, and none is new."""
        names = pa.array(self.partitions, pa.string())
        places = pc.index_in(incoming[PARTITION_PATH], value_set=names).to_numpy().astype(np.int64)
        numbers = self.homes.numbers(places, incoming[RECORD_KEY])
        groups = len(self.numbers) + numbers
        stored_numbers = np.array(self.numbers, dtype=np.int64)
        if len(stored_numbers):
            order = np.argsort(stored_numbers)
            positions = np.minimum(np.searchsorted(stored_numbers[order], numbers), len(stored_numbers) - 1)
            is_stored = stored_numbers[order][positions] == numbers
            groups[is_stored] = order[positions[is_stored]]
        rows = np.arange(incoming.num_rows, dtype=np.int64)
        return RecordLocations(rows, groups, np.full(len(rows), NOWHERE), np.zeros(0, dtype=np.int64))

    def home(self, number: int) -> tuple[str, str]:
        """Partition and file id of a file group that is to come."""
        place, file_id = self.homes.home(number - len(self.numbers))
        return self.partitions[place], file_id

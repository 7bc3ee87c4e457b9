"""The GLOBAL_SIMPLE index: keys are unique in the whole table (`hoodie.index.type=GLOBAL_SIMPLE`).

The keys of all partitions are read, with the ordering values of their rows: whether an incoming row of another partition takes
its key along is settled before anything is written (decision 49).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.index.global_locations import Across
from hoodie.index.live_keys import LiveKeys, StoredRows
from hoodie.index.locations import RecordLocations
from hoodie.index.work_split import shares
from hoodie.model.files import FileSlice
from hoodie.view import TableState


@dataclass(frozen=True)
class GlobalSimpleIndex:
    """Reads the keys of all slices. `rows` are read with the columns that `across` compares and keeps."""

    rows: StoredRows
    across: Across
    sought: frozenset[int] | None = None  # places of the slices that are read, and those with logs; None: all

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> list[LiveKeys]:
        """The keys of all slices; the group number is the slice's place in `slices`."""
        read = [
            n for n, file_slice in enumerate(slices) if self.sought is None or n in self.sought or file_slice.log_files
        ]
        return [LiveKeys(self.rows, some) for some in shares(slices, parallelism, read)]

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        return self.across.tag(incoming, stored, partition_of_group)

"""No index: the rows of inserts are added without a search for their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.index.locations import RecordLocations
from hoodie.model.files import FileSlice
from hoodie.view import TableState


@dataclass(frozen=True)
class NoIndex:
    """Looks nothing up."""

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> Sequence[object]:
        return ()

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        return RecordLocations.nowhere(incoming.num_rows)

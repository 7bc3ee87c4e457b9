"""Index of a write: the places at which the keys of its rows are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

from hoodie.index.locations import RecordLocations
from hoodie.model.files import FileSlice
from hoodie.view import TableState


class Index(Protocol):
    """Finds stored keys. A frozen value, which travels to the workers."""

    def stored_keys(self, state: TableState, slices: Sequence[FileSlice], parallelism: int) -> Sequence[Any]:
        """The stored keys to compare with, as an input of the engine with `_hoodie_record_key` and `@group`, the place of the
        key's slice in `slices`; perhaps `@position`. Empty: none has to be read."""
        ...

    def tag(self, incoming: pa.Table, stored: pa.Table | None, partition_of_group: Sequence[str]) -> RecordLocations:
        """Locations of incoming rows: rows with `_hoodie_record_key` and `_hoodie_partition_path`, at most one for both, and
        the stored keys of their bucket. Runs in the workers."""
        ...

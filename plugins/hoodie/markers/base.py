"""The protocol of markers, as tasks make them before they write their data files."""

from __future__ import annotations

from typing import Protocol

from hoodie.markers.names import MarkerType
from hoodie.model.time import Time
from hoodie.storage.base import Storage


class Markers(Protocol):
    """The markers of an instant (`hoodie.write.markers.type`). An engine with other processes pickles them."""

    @property
    def storage(self) -> Storage:
        """The table's."""
        ...

    @property
    def instant(self) -> Time:
        """Whose markers they are."""
        ...

    def create(self, data_file: str, kind: MarkerType) -> None:
        """Note that `data_file` (relative to the base path) is about to be written; on return the note is on the storage."""
        ...

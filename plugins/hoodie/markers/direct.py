"""Direct markers: an empty file for each data file."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.markers.names import MarkerType, marker_folder, marker_name
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own


@dataclass(frozen=True)
class DirectMarkers:
    """The markers of an instant, one empty file each, as tasks make them (`hoodie.write.markers.type=DIRECT`)."""

    storage: Storage
    instant: Time

    def create(self, data_file: str, kind: MarkerType) -> None:
        """Note that `data_file` (relative to the base path) is about to be written."""
        create_own(self.storage, f"{marker_folder(self.instant)}/{marker_name(data_file, kind)}", b"")

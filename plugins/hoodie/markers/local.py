"""Markers in batches, of tasks that run in the process that gathers them."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.markers.batches import MarkerBatches
from hoodie.markers.direct import DirectMarkers
from hoodie.markers.names import MarkerType, fits_a_line, marker_name
from hoodie.model.time import Time
from hoodie.storage.base import Storage


@dataclass(frozen=True)
class LocalMarkers:
    """The markers of an instant, in a few files (`hoodie.write.markers.type=TIMELINE_SERVER_BASED`), without a server."""

    batches: MarkerBatches

    @property
    def storage(self) -> Storage:
        return self.batches.storage

    @property
    def instant(self) -> Time:
        return self.batches.instant

    def create(self, data_file: str, kind: MarkerType) -> None:
        """Note that `data_file` (relative to the base path) is about to be written."""
        if not fits_a_line(data_file):
            DirectMarkers(self.storage, self.instant).create(data_file, kind)
            return
        self.batches.request(marker_name(data_file, kind)).result()

"""Markers: a note of every data file before it is written, so that a failed write can be undone (format notes, section 4.4)."""

from hoodie.markers.base import Markers
from hoodie.markers.batches import Batching, MarkerBatches
from hoodie.markers.direct import DirectMarkers
from hoodie.markers.local import BatchedMarkers
from hoodie.markers.names import MarkerType, marker_folder
from hoodie.markers.read import read_markers
from hoodie.markers.remote import ServedMarkers

__all__ = [
    "BatchedMarkers",
    "Batching",
    "DirectMarkers",
    "MarkerBatches",
    "MarkerType",
    "Markers",
    "ServedMarkers",
    "marker_folder",
    "read_markers",
]

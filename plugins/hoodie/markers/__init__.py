"""Markers: a note of every data file before it is written, so that a failed write can be undone (format notes, section 4.4)."""

from hoodie.markers.base import Markers
from hoodie.markers.batches import Batching, MarkerBatches
from hoodie.markers.direct import DirectMarkers
from hoodie.markers.local import LocalMarkers
from hoodie.markers.names import MarkerType, marker_folder
from hoodie.markers.read import read_markers
from hoodie.markers.remote import RemoteMarkers

__all__ = [
    "Batching",
    "DirectMarkers",
    "LocalMarkers",
    "MarkerBatches",
    "MarkerType",
    "Markers",
    "RemoteMarkers",
    "marker_folder",
    "read_markers",
]

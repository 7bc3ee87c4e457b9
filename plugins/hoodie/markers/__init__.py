"""Markers of files being written."""

from hoodie.markers.direct import DirectMarkers, MarkerType, marker_folder, read_markers

__all__ = ["DirectMarkers", "MarkerType", "marker_folder", "read_markers"]

"""Markers of files being written."""

from hoodie.markers.direct import MarkerType, create_marker, marker_folder, read_markers

__all__ = ["MarkerType", "create_marker", "marker_folder", "read_markers"]

"""Markers of files being written."""

from hoodie.markers.direct import MarkerType, clear_markers, create_marker, delete_markers, read_markers

__all__ = ["MarkerType", "clear_markers", "create_marker", "delete_markers", "read_markers"]

"""Markers of files being written."""

from hoodie.markers.direct import MarkerType, create_marker, delete_markers, read_markers

__all__ = ["MarkerType", "create_marker", "delete_markers", "read_markers"]

"""Markers: a note of every data file before it is written, so that a failed write can be undone (format notes, section 4.4).

We write DIRECT markers, one empty file each; we read these and the batched ones of Hudi's timeline server.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hoodie.model.time import Time
from hoodie.storage.base import Storage, walk_files
from hoodie.storage.once import create_own

_MARKER = ".marker."
_BATCH_PREFIX, _BATCH_TYPE = "MARKERS", "MARKERS.type"


class MarkerType(StrEnum):
    CREATE = "CREATE"  # a new file group, or a log file of table version 8 and later
    MERGE = "MERGE"  # a new version of a base file
    APPEND = "APPEND"  # a log file of table version 6


def marker_folder(instant: str) -> str:
    return f".hoodie/.temp/{instant}"


@dataclass(frozen=True)
class DirectMarkers:
    """The markers of an instant, one empty file each, as tasks make them (`hoodie.write.markers.type=DIRECT`)."""

    storage: Storage
    instant: Time

    def create(self, data_file: str, kind: MarkerType) -> None:
        """Note that `data_file` (relative to the base path) is about to be written."""
        create_own(self.storage, f"{marker_folder(self.instant)}/{data_file}{_MARKER}{kind}", b"")


def read_markers(storage: Storage, instant: str) -> set[str]:
    """The data files that were noted for an instant, relative to the base path; of any writer and marker type."""
    folder = marker_folder(instant)
    found: set[str] = set()
    for file in walk_files(storage, folder):
        inside = file.path.removeprefix(folder + "/")
        if _MARKER in inside:
            found.add(inside.rpartition(_MARKER)[0])
        elif inside.startswith(_BATCH_PREFIX) and inside != _BATCH_TYPE:
            lines = storage.read(file.path).decode(errors="replace").splitlines()
            found.update(line.rpartition(_MARKER)[0] for line in lines if _MARKER in line)
    return found

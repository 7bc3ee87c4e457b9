"""Files of task attempts that were lost and done again."""

from __future__ import annotations

from collections.abc import Collection

from hoodie.markers import read_markers
from hoodie.storage.base import Storage
from hoodie.transaction.guard import delete_data_files


def delete_leftovers(storage: Storage, time: str, kept: Collection[str]) -> None:
    """Delete the files that a marker of instant `time` notes and that are not among `kept`, the paths of its result."""
    delete_data_files(storage, read_markers(storage, time) - set(kept))

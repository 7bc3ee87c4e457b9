"""Reading the markers of an instant, of any writer and type."""

from __future__ import annotations

from hoodie.markers.names import batch_lines, batch_number, marker_folder, noted_file
from hoodie.storage.base import Storage, walk_files


def read_markers(storage: Storage, instant: str) -> set[str]:
    """The data files that were noted for an instant, relative to the base path.

    Both types are read: a folder may hold direct markers beside files of markers (see `hoodie.markers.remote`).
    """
    folder = marker_folder(instant)
    result: set[str | None] = set()
    for file in walk_files(storage, folder):
        inside = file.path.removeprefix(folder + "/")
        if batch_number(inside) is not None:
            result.update(read_batch(storage, file.path))
        else:
            result.add(noted_file(inside))
    return {path for path in result if path is not None}


def read_batch(storage: Storage, path: str) -> set[str | None]:
    """The data files that a file of markers notes; none if it has gone since it was listed, as its writer is done then."""
    try:
        content = storage.read(path)
    except FileNotFoundError:
        return set()
    return set(map(noted_file, batch_lines(content)))

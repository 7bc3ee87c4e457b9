"""A table that has lost its timeline: it has no instant, as before its first write, and data files all the same."""

from __future__ import annotations

import re

from hoodie.config.properties.store import BASE_FILE, way_from_source
from hoodie.errors import CorruptTableError
from hoodie.model.names import PARTITION_METAFILE
from hoodie.storage.base import FileInfo, Storage

_DATA_FILE = re.compile(rf"^(?:{BASE_FILE}|\.[^_]+_\d{{14,}}\.log\.\d+(?:_.*)?)$")


def is_written_name(name: str) -> bool:
    """Return whether a write has named a file so. Readers take more names, and no table must be refused because files of another
    program lie in its folder."""
    return _DATA_FILE.match(name) is not None


def find_data_file(storage: Storage) -> FileInfo | None:
    """Return the first data file, or None. Folders without a partition metafile count, as these files may be lost, too. Tables
    inside the table do not, nor do folders of a table without partitions."""
    folders = [""]
    while folders:
        folder = folders.pop()
        listing = storage.list(folder)
        if folder and f"{folder}/.hoodie" in listing.folders:
            continue
        for file in listing.files:
            if is_written_name(file.name):
                return file
        if folder or not any(file.name.startswith(PARTITION_METAFILE) for file in listing.files):
            folders.extend(sub for sub in reversed(listing.folders) if sub != ".hoodie")
    return None


def lost_timeline(storage: Storage, timeline_folder: str, data_file: FileInfo) -> CorruptTableError:
    """Return the error of a table that has this data file, and no instant in `timeline_folder`."""
    return CorruptTableError(
        f"Table {storage.base_path} has lost its timeline",
        found=f"no instant in {timeline_folder}, and {data_file.path}: readers would see no rows",
        fix=f"restore the files of {timeline_folder} from a copy of the table before anything is written to it. "
        f"{way_from_source(storage.base_path)}. If the table is new, move the files of other tables out of its folder. Nothing "
        "was changed",
    )

"""The files of a source folder."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from hoodie.display import counted
from hoodie.errors import ConfigError, SourceError, SourceUnavailableError
from hoodie.model.place import identity
from hoodie.storage import FileInfo, Storage, open_storage
from hoodie.storage.rights import access_denied, is_denied

FORMATS = {
    "parquet": (".parquet",),
    "csv": (".csv", ".csv.gz"),
    "json": (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
}
_SHOWN = 3  # folders beside a missing one
_HIDDEN = (".", "_")
_FIELDS = {
    "%Y": ("Y", r"\d{4}"),
    "%m": ("m", r"\d{2}"),
    "%d": ("d", r"\d{2}"),
    "%j": ("j", r"\d{3}"),
    "%y": ("y", r"\d{2}"),
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that arrived: its path inside the source folder, bytes, time of its last change, date that its path carries."""

    path: str
    size: int
    modified_ms: int
    day: date | None


def list_source(
    folder: str, file_format: str, date_pattern: str | None, left_out: Collection[str] = (), *, any_ending: bool = False
) -> list[SourceFile]:
    """The data files below `folder`, in the order of their paths: those with an ending of the format, or with any. Hidden and
    temporary files are passed over, and so are the folders `left_out` (canonical paths).

    Raises ConfigError for an unknown format or pattern, SourceError when the folder is missing or cannot be listed.
    """
    if file_format not in FORMATS:
        raise ConfigError(f"Source format {file_format!r} is not known", fix=f"use one of {', '.join(FORMATS)}")
    dates = DatePattern(date_pattern) if date_pattern else None
    storage = open_storage(folder)
    try:
        files = [
            SourceFile(file.path, file.size, file.modified_ms, dates.find(file.path) if dates else None)
            for file in walk_source(storage, "", frozenset(left_out))
            if (any_ending or file.name.lower().endswith(FORMATS[file_format])) and not is_hidden(file.name)
        ]
    except OSError as error:
        if is_denied(error):
            raise access_denied("listing a source folder", error, error.filename or folder) from error
        raise SourceUnavailableError(
            f"Source folder {folder} cannot be listed", found=str(error), fix="check its permissions and the storage"
        ) from error
    if not files:
        _check_exists(storage, folder)
    return sorted(files, key=lambda file: file.path)


class DatePattern:
    """Finds the date in a path, such as `dt=%Y-%m-%d`. A field that the pattern has twice has the same value in both places."""

    def __init__(self, pattern: str) -> None:
        """Raises ConfigError when the pattern names no full date or a field that is not supported."""
        self._pattern = pattern
        text = re.escape(pattern)
        for field, (name, digits) in _FIELDS.items():
            text = text.replace(re.escape(field), f"(?P<{name}>{digits})", 1)
            text = text.replace(re.escape(field), f"(?P={name})")
        fields = set(re.findall(r"%([A-Za-z])", pattern))
        if not ({"Y", "m", "d"} <= fields or {"y", "m", "d"} <= fields or {"Y", "j"} <= fields) or fields - set(
            "Ymdjy"
        ):
            raise ConfigError(
                f"Date pattern {pattern!r} names no day", fix="use %Y, %m and %d, for instance dt=%Y-%m-%d"
            )
        self._regex = re.compile(text)
        self._format = " ".join(f"%{field}" for field in sorted(fields))
        self._fields = sorted(fields)

    def find(self, path: str) -> date | None:
        """The date in `path`, None when there is none."""
        match = self._regex.search(path)
        if match is None:
            return None
        try:
            return datetime.strptime(" ".join(match[field] for field in self._fields), self._format).date()
        except ValueError:  # looks like a date and is not a valid one, such as 2013-02-30
            return None


def walk_source(storage: Storage, folder: str, left_out: frozenset[str]) -> Iterator[FileInfo]:
    """Every file below `folder`, links followed."""
    if identity(f"{storage.base_path}/{folder}") in left_out:
        return
    listing = storage.list(folder)
    yield from listing.files
    for sub in listing.folders:
        if not sub.rpartition("/")[2].startswith(_HIDDEN):
            yield from walk_source(storage, sub, left_out)


def is_hidden(name: str) -> bool:
    return name.startswith(_HIDDEN) or name.endswith((".tmp", ".crc", ".partial"))


def _check_exists(storage: Storage, folder: str) -> None:
    """Raises SourceError for a folder that is missing, or a file."""
    listing = storage.list("")
    if listing.files or listing.folders:
        return
    parent, _, name = storage.base_path.rpartition("/")
    beside = open_storage(parent or "/").list("")
    if name in [file.name for file in beside.files]:
        raise SourceError(f"Source folder {folder} is a file", fix=f"name the folder that it is in: {parent or '/'}")
    if name not in [path.rpartition("/")[2] for path in beside.folders]:
        raise SourceError(
            f"Source folder {folder} is missing",
            found=nearest_folder(folder),
            fix="check the path, or wait for the first delivery",
        )


def nearest_folder(folder: str, *, only_similar: bool = False) -> str:
    """The folder above a missing one that is there, with its files and folders, those of a similar name first. For people. With
    `only_similar` it is empty without such a name.
    """
    parent, _, name = folder.rstrip("/").rpartition("/")
    while parent.strip("/"):
        listing = open_storage(parent).list("")
        folders = [path.rpartition("/")[2] for path in listing.folders]
        if listing.files or folders:
            similar = [near for near in difflib.get_close_matches(name, folders, _SHOWN) if near != name]
            if only_similar and not similar:
                return ""
            shown = [*similar, *folders]
            more = ", …" if len(folders) > _SHOWN else ""
            names = f" and the {'folder' if len(folders) == 1 else 'folders'} {', '.join(dict.fromkeys(shown[:_SHOWN]))}{more}"
            return f"{parent} has {counted(len(listing.files), 'file')}{names if folders else ''}"
        parent, _, name = parent.rpartition("/")
    return "" if only_similar else "no folder above it has a file"

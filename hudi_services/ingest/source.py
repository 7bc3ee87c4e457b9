"""The files of a source folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from hoodie.errors import ConfigError, SourceError
from hoodie.storage import open_storage, walk_files

FORMATS = {"parquet": (".parquet",), "csv": (".csv", ".csv.gz"), "json": (".json", ".jsonl", ".ndjson", ".json.gz")}
_FIELDS = {
    "%Y": r"(?P<Y>\d{4})",
    "%m": r"(?P<m>\d{2})",
    "%d": r"(?P<d>\d{2})",
    "%j": r"(?P<j>\d{3})",
    "%y": r"(?P<y>\d{2})",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that arrived: its path inside the source folder, bytes, time of its last change, date that its path carries."""

    path: str
    size: int
    modified_ms: int
    day: date | None


def list_source(folder: str, file_format: str, date_pattern: str | None) -> list[SourceFile]:
    """The data files below `folder`, in the order of their paths. Hidden and temporary files are passed over.

    Raises ConfigError for an unknown format or pattern, SourceError when the folder is missing.
    """
    if file_format not in FORMATS:
        raise ConfigError(f"Source format {file_format!r} is not known", fix=f"use one of {', '.join(FORMATS)}")
    dates = DatePattern(date_pattern) if date_pattern else None
    storage = open_storage(folder)
    files = [
        SourceFile(file.path, file.size, file.modified_ms, dates.find(file.path) if dates else None)
        for file in walk_files(storage, "")
        if file.name.lower().endswith(FORMATS[file_format]) and not _hidden(file.path)
    ]
    if not files and not _exists(folder):
        raise SourceError(f"Source folder {folder} is missing", fix="check the path, or wait for the first delivery")
    return sorted(files, key=lambda file: file.path)


class DatePattern:
    """Finds the date in a path, such as `dt=%Y-%m-%d`."""

    def __init__(self, pattern: str) -> None:
        """Raises ConfigError when the pattern names no full date or a field that is not supported."""
        self._pattern = pattern
        text = re.escape(pattern)
        for field, group in _FIELDS.items():
            text = text.replace(re.escape(field), group)
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
        except ValueError:  # looks like a date and is none, such as 2013-02-30
            return None


def describe(files: Iterable[SourceFile]) -> str:
    """`3 files, 12,345 bytes`."""
    held = list(files)
    return f"{len(held)} files, {sum(file.size for file in held):,} bytes"


def _hidden(path: str) -> bool:
    parts = path.split("/")
    return any(part.startswith((".", "_")) for part in parts) or parts[-1].endswith((".tmp", ".crc", ".partial"))


def _exists(folder: str) -> bool:
    listing = open_storage(folder).list("")
    if listing.files or listing.folders:
        return True
    parent, _, name = folder.rstrip("/").rpartition("/")
    return name in [path.rpartition("/")[2] for path in open_storage(parent or "/").list("").folders]

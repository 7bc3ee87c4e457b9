"""Names of markers: the folder of an instant, and how a marker says which data file it notes (format notes, section 4.4)."""

from __future__ import annotations

import re
from enum import StrEnum

from hoodie.errors import UnsafePathError
from hoodie.model.names import is_data_file
from hoodie.model.time import Time

BATCH_TYPE = "MARKERS.type"
BATCHED = b"TIMELINE_SERVER_BASED"
"""Content of `MARKERS.type`; without this file Hudi reads direct markers alone, and with it files of markers alone."""

_MARKER = ".marker."
_BATCH = re.compile(r"MARKERS[0-9]+")
_LINE_ENDS = re.compile(rb"\r\n|\r|\n")


class MarkerType(StrEnum):
    CREATE = "CREATE"  # a new file group, or a log file of table version 8 and later
    MERGE = "MERGE"  # a new version of a base file
    APPEND = "APPEND"  # a log file of table version 6


_KINDS = frozenset(MarkerType)


def marker_folder(instant: str) -> str:
    return f".hoodie/.temp/{instant}"


def marker_name(data_file: str, kind: MarkerType) -> str:
    """The marker of a data file, both relative to their folders."""
    return f"{data_file}{_MARKER}{kind}"


def noted_file(marker: str) -> str | None:
    """The data file (relative to the base path) that a marker notes; None for other text, as the name of the checksum that
    Hudi's writers put beside each marker on a local disk."""
    path, _, kind = marker.rpartition(_MARKER)
    return path if kind in _KINDS else None


def batch_path(instant: Time, number: int) -> str:
    """The file of markers with that number."""
    return f"{marker_folder(instant)}/MARKERS{number}"


def batch_number(name: str) -> int | None:
    """The number of a file of markers; None for another file."""
    return int(name.removeprefix("MARKERS")) if _BATCH.fullmatch(name) else None


def batch_lines(content: bytes) -> list[str]:
    """The markers in the content of a file of markers of any writer. Lines end as Java's do: partitions may hold other
    characters that Python takes for an end."""
    return [line.decode(errors="replace") for line in _LINE_ENDS.split(content) if line]


def fits_a_line(marker: str) -> bool:
    """Return whether a file of markers can hold it: some partitions have ends of lines in their names, or are not text."""
    return not {"\n", "\r"} & set(marker) and _encodes(marker)


def check_marker(marker: str) -> str:
    """`marker`, if it notes a data file of a table and nothing else: what a request names is written by no other check.

    Raises UnsafePathError.
    """
    path, _, kind = marker.rpartition(_MARKER)
    parts = path.split("/")
    plain = not {"", ".", ".."} & set(parts) and parts[0] != ".hoodie" and "\0" not in marker and fits_a_line(marker)
    if not plain or kind not in _KINDS or not is_data_file(parts[-1]):
        raise UnsafePathError(
            f"{marker!r:.200} is not a marker of a data file",
            found="a marker is the path of a base or log file inside the table with .marker.CREATE, .MERGE or .APPEND behind it",
            fix="nothing was noted; find the process that asks for it",
        )
    return marker


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True

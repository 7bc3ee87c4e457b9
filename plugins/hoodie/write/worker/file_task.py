"""Which file a task writes."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to write: a new version of `slice`, or a new file group when it has none.

    With a `log` the rows are appended to the slice in a log file of that name instead.
    """

    partition: str
    file_id: str
    slice: FileSlice | None
    log: LogFileName | None = None

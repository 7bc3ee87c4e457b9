"""Files that a clean has set aside instead of deleting them: below `.hoodie/.deleted`, which no reader looks at.

Each clean has a folder, in which a file has its path of before. Its name says until when they can be put back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.clock import Clock
from hoodie.model.names import is_data_file
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage, walk_files
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.guard import check_planned, delete_metadata_folder
from hoodie.transaction.recovery import recovered

FOLDER = ".hoodie/.deleted"
_FORMAT = "%Y%m%d%H%M%S"
_NAME = re.compile(r"(\d{14,17})_(\d{14})")


@dataclass(frozen=True)
class TrashFolder:
    """Files that the clean of an instant has set aside, and the time (UTC, to the second) until which they stay."""

    clean: Time
    until: datetime

    @property
    def folder(self) -> str:
        return f"{FOLDER}/{self.clean}_{self.until.strftime(_FORMAT)}"

    def files(self, storage: Storage) -> Iterator[FileInfo]:
        """The data files in it, with their current paths; `path_of` gives the former ones. One listing a folder."""
        return (info for info in walk_files(storage, self.folder) if is_data_file(info.name))

    def path_of(self, info: FileInfo) -> str:
        """The path that the file had in the table."""
        return info.path[len(self.folder) + 1 :]

    def over(self, now: datetime) -> bool:
        """Return whether the grace time is over."""
        return self.until <= now


def asides(storage: Storage) -> list[TrashFolder]:
    """All of a table, the oldest first. One listing."""
    names = (_NAME.fullmatch(folder.rpartition("/")[2]) for folder in storage.list(FOLDER).folders)
    result = [(name[1], until_of(name[2])) for name in names if name]
    return sorted(
        (TrashFolder(Time(time), until) for time, until in result if until is not None), key=lambda a: a.clean
    )


def until_text(until: datetime) -> str:
    """As a clean's plan holds it."""
    return until.astimezone(UTC).strftime(_FORMAT)


def until_of(text: str) -> datetime | None:
    """None for what is not a time."""
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def set_aside(storage: Storage, aside: TrashFolder, path: str, planned: Collection[str]) -> bool:
    """Move one planned data file there; False when it was gone already. Raises UnsafeDeleteError as a delete does."""
    check_planned(storage, path, planned)
    return storage.move(path, f"{aside.folder}/{path}")


def purge(storage: Storage, clock: Clock) -> None:
    """Delete for good what cleans have set aside and whose grace time is over. Call it under the lock."""
    now = clock.now()
    for aside in asides(storage):
        if aside.over(now):
            why = f"set aside by clean {aside.clean} until {aside.until.isoformat()}"
            action = Audited(aside.clean, "purge", why, aside.folder)
            with audited(storage, clock, action, [AuditedFile(aside.folder)]):
                delete_metadata_folder(storage, aside.folder)
            recovered(f"deleted for good what clean {aside.clean} had set aside until {aside.until:%Y-%m-%d %H:%M} UTC")

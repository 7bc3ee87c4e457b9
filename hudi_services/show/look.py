"""A table, looked at once: each folder is listed once, whatever is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from hoodie.clock import Clock, SystemClock
from hoodie.storage import File, FileInfo, Listing, Storage, open_storage
from hoodie.timeline import Instant, parse_time
from hoodie.view import TableState, TableView, load_state
from hudi_services.commandline.flags import ChosenTable
from hudi_services.entry.table import ServiceSection, Table


class ListedOnce:
    """A storage that remembers its listings, and counts the calls that reach the store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._listings: dict[str, Listing] = {}
        self.calls = 0

    @property
    def base_path(self) -> str:
        return self._storage.base_path

    def list(self, folder: str) -> Listing:
        if folder not in self._listings:
            self.calls += 1
            self._listings[folder] = self._storage.list(folder)
        return self._listings[folder]

    def info(self, path: str) -> FileInfo | None:
        self.calls += 1
        return self._storage.info(path)

    def read(self, path: str) -> bytes:
        self.calls += 1
        return self._storage.read(path)

    def open_input(self, path: str) -> File:
        self.calls += 1
        return self._storage.open_input(path)

    def open_output(self, path: str) -> AbstractContextManager[File]:
        raise self._refused(path)

    def create(self, path: str, data: bytes) -> None:
        raise self._refused(path)

    def touch(self, path: str) -> None:
        raise self._refused(path)

    def delete(self, path: str) -> bool:
        raise self._refused(path)

    def delete_folder(self, folder: str) -> None:
        raise self._refused(folder)

    def sweep(self, folders: Sequence[str]) -> None:
        raise self._refused(", ".join(folders))

    def _refused(self, path: str) -> PermissionError:
        return PermissionError(f"{path}: a look at a table changes nothing")


@dataclass(frozen=True)
class Look:
    """The state of a table, the time, and its entry in the registry when it was named by that."""

    storage: ListedOnce
    state: TableState
    clock: Clock
    now: datetime
    entry: Table | None = None

    @cached_property
    def view(self) -> TableView:
        return TableView(self.state)

    def view_of(self, partition: str | None) -> TableView:
        """Of one partition, which alone is listed; None: of the whole table."""
        return self.view if partition is None else TableView(self.state, (partition,))

    def options(self, service: str) -> Mapping[str, str]:
        """What the registry says of a service of the table."""
        section = self.entry.section(service) if self.entry is not None else None
        return section.hoodie if isinstance(section, ServiceSection) else {}

    def began(self, instant: Instant) -> datetime:
        return parse_time(instant.time, self.state.zone)

    def completed(self, instant: Instant) -> datetime | None:
        """None of a pending instant; of table version 6 when its file was written."""
        time = instant.completion_time
        return parse_time(time, self.state.zone) if time is not None else None

    def age(self, moment: datetime) -> float:
        """Seconds since then."""
        return round((self.now - moment).total_seconds(), 3)


def look_at(chosen: ChosenTable, clock: Clock | None = None) -> Look:
    """Two storage calls for a healthy table. Raises TableNotFoundError, CorruptTableError or UnsupportedTableError."""
    clock = clock or SystemClock()
    storage = ListedOnce(open_storage(chosen.base_path))
    return Look(storage, load_state(storage, clock), clock, clock.now(), chosen.entry)

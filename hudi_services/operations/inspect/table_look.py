"""A table, looked at once: each folder is listed once for all questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hoodie.cache import cached_property
from hoodie.clock import Clock, SystemClock
from hoodie.config import select_keys
from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.partitions import partition_path
from hoodie.display import counted
from hoodie.errors import ConfigError, TimeTravelError
from hoodie.model.time import Time
from hoodie.read.times import is_instant, moment_as_time
from hoodie.storage import ListingCache, open_storage
from hoodie.timeline import Instant, parse_time
from hoodie.times import moment
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.view import TableState, TableView, load_state
from hudi_services.entry.retention import options_of
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.objectives.facts import Facts
from hudi_services.operations.objectives.gather import gather

_MOST_NAMED = 5  # partitions in an error


@dataclass(frozen=True)
class Look:
    """The state of a table, the time, and its entry in the registry when it was named by that."""

    storage: ListingCache
    state: TableState
    clock: Clock
    now: datetime
    entry: Table | None = None

    @cached_property
    def view(self) -> TableView:
        return TableView(self.state)

    def view_of(self, partition: str | None) -> TableView:
        """The view of one partition, which alone is listed; None: of the whole table. Raises ConfigError for what is no
        partition."""
        return self.view if partition is None else TableView(self.state, (self.partition(partition),))

    def partition(self, text: str) -> str:
        """The path of a partition by any of its names. Raises ConfigError for what is no partition of the table.

        Partitions are listed where its folder has no data files.
        """
        path = partition_path(text)
        (partition_files,) = self.state.files.of([path])
        if not partition_files.base_files and not partition_files.log_files:
            partitions = self.state.files.partitions()
            if path not in partitions:
                more = " …" if len(partitions) > _MOST_NAMED else ""
                raise ConfigError(
                    f"Table {self.storage.base_path} has no partition {path!r:.200}",
                    found=f"{counted(len(partitions), 'partition')}: {', '.join(partitions[:_MOST_NAMED])}{more}",
                    fix="give a path as `hudi-services show partitions` lists it",
                )
        return path

    def options(self, service: str) -> Mapping[str, str]:
        """The options that the registry has for a service of the table."""
        return options_of(self.entry, service) if self.entry is not None else {}

    @property
    def locking(self) -> Locking:
        """See `locking_of`."""
        return locking_of(self.entry)

    @property
    def sharing(self) -> ConcurrencyOptions:
        """The options by which writers of the table show that they are alive."""
        options = self.options(self.entry.loader) if self.entry is not None else {}
        return ConcurrencyOptions.of(resolve(select_keys(options, SHARING_KEYS), SHARING_KEYS))

    @cached_property
    def facts(self) -> Facts | None:
        """The facts by which the objectives of its entry are judged; None without any. Raises HoodieError for what
        cannot be read."""
        if self.entry is None or not self.entry.objectives.any:
            return None
        return gather(self.entry, self.state, self.view, self.clock)

    def began(self, instant: Instant) -> datetime:
        return parse_time(instant.time, self.state.zone)

    def completed(self, instant: Instant) -> datetime | None:
        """The time of completion: None for a pending instant, in table version 6 the time when its file was written."""
        time = instant.completion_time
        return parse_time(time, self.state.zone) if time is not None else None

    def moment(self, flag: str, text: str) -> Time:
        """The time that the flag names: an instant; an ISO date or time, `today`, `yesterday`, in UTC; or how long ago
        (30m, 12h, 7d).

        Raises ConfigError for any other text.
        """
        try:
            return moment_as_time(self.state, text if is_instant(text) else moment(text, self.now))
        except (TimeTravelError, ValueError, OverflowError):
            raise ConfigError(
                f"{flag} {text!r:.100} is no time",
                fix="give an instant (yyyyMMddHHmmssSSS), an ISO date or time, today, yesterday, or how long ago: 30m, 12h, 7d",
            ) from None

    def age(self, moment: datetime) -> float:
        """Seconds since then."""
        return round((self.now - moment).total_seconds(), 3)


def locking_of(entry: Table | None) -> Locking:
    """The lock settings by which writers of a table exclude each other, from the registry. Raises ConfigError."""
    options = entry.common if entry is not None else {}
    return Locking.of(resolve(select_keys(options, LOCK_KEYS), LOCK_KEYS))


def look_at(chosen: ChosenTable, clock: Clock | None = None) -> Look:
    """Two storage calls for a healthy table. Raises TableNotFoundError, CorruptTableError or UnsupportedTableError."""
    clock = clock or SystemClock()
    storage = ListingCache(open_storage(chosen.base_path))
    return Look(storage, load_state(storage, clock), clock, clock.now(), chosen.entry)

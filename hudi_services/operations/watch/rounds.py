"""All tables of a registry, looked at side by side."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from hoodie.clock import Clock
from hoodie.errors import StoreError
from hudi_services.operations.watch.gains import follow_gains
from hudi_services.operations.watch.round_threads import Looks
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look, silent
from hudi_services.registry.load import Reading

_SILENT = timedelta(minutes=5)  # a look goes on: its table counts as unreadable

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Round:
    """The result of a round: tables, new events, and tables of the store that the registry has no more."""

    tables: int
    events: int
    removed: tuple[str, ...]


@dataclass
class Watcher:
    """Goes round all tables of a registry, again and again, and fills a store."""

    store: SnapshotStore
    clock: Clock

    def __post_init__(self) -> None:
        self._looks = Looks(lambda entry: look(entry, self.store, self.clock), self.clock)

    def round(self, reading: Reading) -> Round:
        """Look at each table once. A table that does not answer is reported after a while, and the others go on.

        A table that the registry has no more is forgotten after a while, but not while there are mistakes in the
        registry, which may be what keeps the table out. Raises StoreError.
        """
        store, tables = self.store, reading.registry.tables
        store.found_again()
        events = self._looks.round(tables, reading.registry.watch.at_once)
        for name, since in self._looks.slow(_SILENT).items():
            entry = reading.registry.table(name)
            if entry is not None:
                silent(entry, store, since, self.clock)
        store.rounded(self.clock.now())
        _follow_gains(reading, store, self.clock)
        base_paths = {table.name: table.base_path for table in tables}
        removed = store.forget(base_paths, self.clock.now()) if not reading.mistakes else ()
        return Round(len(tables), events, tuple(removed))


def _follow_gains(reading: Reading, store: SnapshotStore, clock: Clock) -> None:
    """Follow the gains of each history. Trouble with one affects neither the tables nor the other histories."""
    for history in reading.registry.histories:
        try:
            follow_gains(store, history, clock.now())
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - others may have written into it
            _log.warning(
                "The savings of services by the history %s are summed up with a later round: %s: %s",
                history.path,
                type(error).__name__,
                error,
            )

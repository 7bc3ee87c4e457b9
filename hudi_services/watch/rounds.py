"""All tables of a registry, looked at side by side."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.errors import StoreError
from hudi_services.registry.load import Reading
from hudi_services.watch.follow import look
from hudi_services.watch.gains import follow_gains
from hudi_services.watch.store import SnapshotStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Round:
    """What a round has seen: tables, new events, and tables of the store that the registry has no more."""

    tables: int
    events: int
    gone: tuple[str, ...]


def watch_round(reading: Reading, store: SnapshotStore, at_once: int, clock: Clock) -> Round:
    """Look at each table of a registry once, at most `at_once` at the same time.

    A table that the registry has no more is forgotten, but not while there are mistakes in the registry, which may be what keeps
    the table out. Raises StoreError.
    """
    store.found_again()
    tables = reading.registry.tables
    with ThreadPoolExecutor(at_once) as threads:
        events = sum(threads.map(lambda entry: look(entry, store, clock), tables))
    store.rounded(clock.now())
    _follow_gains(reading, store, clock)
    gone = store.forget([table.name for table in tables]) if not reading.mistakes else ()
    return Round(len(tables), events, tuple(gone))


def _follow_gains(reading: Reading, store: SnapshotStore, clock: Clock) -> None:
    """Trouble with a history is none of the tables."""
    histories = {each.history.path: each.history for each in reading.registry.tables if each.history is not None}
    try:
        follow_gains(store, histories.values(), clock.now())
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - others may have written into it
        _log.warning("What services gained is summed up with a later round: %s: %s", type(error).__name__, error)

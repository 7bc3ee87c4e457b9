"""Notes of a run while it goes on, for those who watch it. A note that cannot be stored stops nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Protocol

from hoodie.clock import Clock
from hudi_services.sources.cdc.sync_progress import (
    Loading,
    LogRetention,
    ProgressStore,
    SyncProgress,
    without_table,
)

_log = logging.getLogger(__name__)
_EVERY = 3.0  # seconds between two notes of a run that goes on


class SyncReport(Protocol):
    """The words of a run over all tables of a server while it goes on. Its threads call it at the same time."""

    def began(self) -> None:
        """The run begins."""

    def counted(self, estimates: Mapping[str, int]) -> None:
        """Tables of the server have about as many rows."""

    def loads(self, tables: Collection[str]) -> None:
        """All rows of these tables are read next."""

    def read(self, table: str, rows: int) -> None:
        """`rows` rows of a table were read so far."""

    def loaded(self, table: str) -> None:
        """The snapshot of a table has ended, well or badly."""

    def log_kept(self, kept: LogRetention) -> None:
        """The server keeps its log for as long."""

    def ended(self) -> None:
        """The run has ended, well or badly."""


class NoReport:
    """Says nothing."""

    def began(self) -> None: ...

    def counted(self, estimates: Mapping[str, int]) -> None: ...

    def loads(self, tables: Collection[str]) -> None: ...

    def read(self, table: str, rows: int) -> None: ...

    def loaded(self, table: str) -> None: ...

    def log_kept(self, kept: LogRetention) -> None: ...

    def ended(self) -> None: ...


@dataclass
class ProgressReport:
    """Keeps the progress of a run in `store`, every few seconds at most."""

    store: ProgressStore
    clock: Clock
    now: Callable[[], float] = time.monotonic
    _progress: SyncProgress = field(init=False)
    _estimates: Mapping[str, int] = field(default_factory=dict)
    _due: float = 0.0
    _changing: Lock = field(default_factory=Lock)
    _storing: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        now = self.clock.now().isoformat()
        self._progress = SyncProgress(now, now)

    def began(self) -> None:
        now = self.clock.now().isoformat()
        try:
            before = self.store.latest()
        except Exception as error:  # noqa: BLE001 - the run goes on without its notes
            _log.warning("The progress of the run before cannot be read: %s", error)
            before = None
        self._progress = SyncProgress(now, now, kept=before.kept if before is not None else None)
        self._store()

    def counted(self, estimates: Mapping[str, int]) -> None:
        self._estimates = estimates

    def loads(self, tables: Collection[str]) -> None:
        if tables:
            rows = sum(self._estimates.get(table, 0) for table in tables)
            self._note(
                lambda progress: replace(
                    progress, to_load=progress.to_load + len(tables), rows_to_load=progress.rows_to_load + rows
                )
            )

    def read(self, table: str, rows: int) -> None:
        estimate = self._estimates.get(table, 0)
        self._note(lambda progress: replace(progress, loading={**progress.loading, table: Loading(rows, estimate)}))

    def loaded(self, table: str) -> None:
        self._note(lambda progress: without_table(progress, table))

    def log_kept(self, kept: LogRetention) -> None:
        self._note(lambda progress: replace(progress, kept=kept))

    def ended(self) -> None:
        self._progress = replace(self._progress, ended=self.clock.now().isoformat())
        self._store()

    def _note(self, change: Callable[[SyncProgress], SyncProgress]) -> None:
        with self._changing:
            self._progress = change(self._progress)
            if self.now() < self._due:
                return
            self._due = self.now() + _EVERY
        self._store()

    def _store(self) -> None:
        with self._storing:
            progress = replace(self._progress, noted=self.clock.now().isoformat())
            try:
                self.store.put(progress)
            except Exception as error:  # noqa: BLE001 - the run goes on without its notes
                _log.warning("The progress of the run cannot be stored: %s", error)

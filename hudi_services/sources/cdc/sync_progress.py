"""The progress of a run over all tables of a server: a small file beside the cuts, for pages and commands that show it.

Nothing else reads it. A run without the file, or with an old one, loads the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

from hoodie.storage import Storage, join
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.idempotent import create_own, replace_own

_SILENT = timedelta(minutes=10)
"""A run without a note for this time has probably ended without a word. A chunk or a small table takes seconds."""


@dataclass(frozen=True)
class Loading:
    """Rows of a table that were read, of about `estimate` by the server's count."""

    rows: int
    estimate: int


@dataclass(frozen=True)
class LogRetention:
    """How long the server keeps the part of its log that is still needed, which begins at `position`.

    `retention` are the seconds that it keeps a file after its last event, 0: for ever. It may remove the file of `position` from
    `until` on, in ISO 8601 by its own clock (None: never, or not known). A log `without` the position no longer has its file.
    """

    retention: float
    position: str
    until: str | None
    without: bool = False


@dataclass(frozen=True)
class SyncProgress:
    """A run: when it began, noted this and ended (None: not yet), in ISO 8601 by the clock of its process.

    `loading` are the snapshots that are read now. `loaded` of `to_load` tables had theirs, with `rows_loaded` rows. All together
    have about `rows_to_load`.
    """

    began: str
    noted: str
    ended: str | None = None
    kept: LogRetention | None = None
    loading: Mapping[str, Loading] = field(default_factory=dict)
    loaded: int = 0
    to_load: int = 0
    rows_loaded: int = 0
    rows_to_load: int = 0

    @property
    def rows_read(self) -> int:
        """Rows of all snapshots of the run so far."""
        return self.rows_loaded + sum(table.rows for table in self.loading.values())

    def goes_on(self, now: datetime) -> bool:
        """Return True if the run has not ended, as far as its last note says."""
        return self.ended is None and now - datetime.fromisoformat(self.noted) < _SILENT


@dataclass
class ProgressStore:
    """The progress of the newest run for the server `server`, in a folder."""

    storage: Storage
    server: str
    _content: bytes | None = None

    def latest(self) -> SyncProgress | None:
        """Return what the newest run noted. None where there is nothing, or nothing that can be read."""
        try:
            self._content = self.storage.read(self._path)
            body = json.loads(self._content)
            kept = body.pop("kept")
            loading = {name: Loading(**values) for name, values in body.pop("loading").items()}
            sync_progress = SyncProgress(**body, kept=LogRetention(**kept) if kept else None, loading=loading)
            until = sync_progress.kept.until if sync_progress.kept is not None else None
            for time in filter(None, (sync_progress.began, sync_progress.noted, sync_progress.ended, until)):
                _ = datetime.fromisoformat(time)
        except FileNotFoundError:
            self._content = None
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return sync_progress

    def put(self, progress: SyncProgress) -> None:
        """Store it in place of the earlier one. Another process that wrote since the last `latest` or `put` keeps its own.

        A storage that cannot replace files on a condition keeps nothing.
        """
        if not isinstance(self.storage, ReplacingStorage):
            return
        body = json.dumps(asdict(progress), ensure_ascii=False, sort_keys=True).encode()
        if self._content is None:
            create_own(self.storage, self._path, body)
        elif not replace_own(self.storage, self._path, self._content, body):
            self.latest()
            return
        self._content = body

    @property
    def _path(self) -> str:
        return join(self.server, "progress.json")


def without_table(progress: SyncProgress, table: str) -> SyncProgress:
    """Return the progress after the snapshot of a table, which ended well or badly."""
    loading = dict(progress.loading)
    ended = loading.pop(table, Loading(0, 0))
    return replace(progress, loading=loading, loaded=progress.loaded + 1, rows_loaded=progress.rows_loaded + ended.rows)

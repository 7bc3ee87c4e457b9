"""Cuts of a server: places of its log up to which tables of the lake have all changes.

A cut is one file below the server's folder of states. So a table that no change reached needs no commit to say how far it is, and
readers of several tables get rows of one moment: each table as of the instant that the cut names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from hoodie.storage import Storage
from hudi_services.sources.cdc.file_sequence import FileSequence

_KEPT = 1_000
"""Cuts that stay. One a minute reaches 16 hours back."""
_LOG = re.compile(r"server (?P<server>\S+), (?:transactions (?P<gtid>\S*), )?file of \S+")
"""The identity of the log at a place, as `cdc.mysql.log_identity` writes it."""


@dataclass(frozen=True)
class TablePlace:
    """The Hudi table at `base_path` at a cut: its last commit of the source, and the position that this commit holds."""

    base_path: str
    instant: str
    stored: str


@dataclass(frozen=True)
class Behind:
    """A table that did not reach a cut: why, since when (ISO 8601). It has all changes up to `position`.

    `log` identifies the log there, `stored` is the position that its last commit holds, empty without one. A `parked` table is
    left out until a user resumes it. The others are tried again by each run.
    """

    reason: str
    fix: str
    since: str
    parked: bool
    position: str
    log: str
    stored: str


@dataclass(frozen=True)
class Cut:
    """All `tables` (by their names at the server) have all changes up to `position`, and no later ones.

    `log` identifies the log there. `time` is the server's when `position` was the end of the log, in ISO 8601. Tables that are
    `behind` have fewer. The server has no table of the names `dropped`.
    """

    number: int
    position: str
    log: str
    time: str
    tables: Mapping[str, TablePlace] = field(default_factory=dict)
    behind: Mapping[str, Behind] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    @property
    def server_id(self) -> str:
        """The server whose log has `position`, empty where `log` does not say."""
        return self._of_log("server")

    @property
    def gtid(self) -> str:
        """The position by GTID: `0-1-7,1-2-9` of MariaDB, `UUID:1-9` of MySQL. Empty where it is not known."""
        return self._of_log("gtid")

    def _of_log(self, part: str) -> str:
        match = _LOG.fullmatch(self.log)
        return (match[part] or "") if match is not None else ""


@dataclass(frozen=True)
class CutStore:
    """The cuts of the server `server` in a folder."""

    storage: Storage
    server: str

    def latest(self) -> Cut | None:
        """Return the newest cut, None where there is none. Raises CorruptTableError for one that cannot be read."""
        newest = self._files.latest()
        if newest is None:
            return None
        return self._cut(*newest)

    def newest_first(self) -> Iterator[Cut]:
        """Yield the kept cuts, each read when it is asked for. Raises CorruptTableError for one that cannot be read."""
        for number in reversed(self._files.numbers()):
            with suppress(FileNotFoundError):  # a sync may remove the oldest ones at the same time
                yield self._cut(number, self._files.read(number))

    def _cut(self, number: int, body: dict[str, Any]) -> Cut:
        try:
            tables = {name: TablePlace(**values) for name, values in body.pop("tables").items()}
            behind = {name: Behind(**values) for name, values in body.pop("behind").items()}
            dropped = tuple(body.pop("dropped", ()))  # cuts of earlier releases have none
            return Cut(**body, tables=tables, behind=behind, dropped=dropped)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._files.unreadable(number, error) from error

    def put(self, cut: Cut) -> None:
        """Store a cut, and remove those that are old. Raises PendingInstantError where another process stored this number."""
        self._files.put(cut.number, asdict(cut))

    @property
    def _files(self) -> FileSequence:
        return FileSequence(self.storage, self.server, "cuts", _KEPT, "cut")

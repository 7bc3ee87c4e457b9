"""Cuts of a server: places of its log up to which tables of the lake have all changes.

A cut is one file below the server's folder of states. So a table that no change reached needs no commit to say how far it is, and
readers of several tables get rows of one moment: each table as of the instant that the cut names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.storage import Storage, join
from hoodie.storage.once import create_own

_FILE = re.compile(r"(?P<number>[0-9]{10})\.json")
_KEPT = 1_000
"""Cuts that stay. One a minute reaches 16 hours back."""


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
    `behind` have fewer.
    """

    number: int
    position: str
    log: str
    time: str
    tables: Mapping[str, TablePlace] = field(default_factory=dict)
    behind: Mapping[str, Behind] = field(default_factory=dict)


@dataclass(frozen=True)
class CutStore:
    """The cuts of the server `server` in a folder."""

    storage: Storage
    server: str

    def latest(self) -> Cut | None:
        """Return the newest cut, None where there is none. Raises CorruptTableError for one that cannot be read."""
        numbers = self._numbers()
        return self._read(numbers[-1]) if numbers else None

    def put(self, cut: Cut) -> None:
        """Store a cut, and remove those that are old. Raises PendingInstantError where another process stored this number."""
        body = json.dumps(asdict(cut), ensure_ascii=False, sort_keys=True).encode()
        try:
            create_own(self.storage, self._path(cut.number), body)
        except FileExistsError:
            raise PendingInstantError(
                f"Another process follows the server {self.server} at the same time",
                found=f"it stored {self._path(cut.number)} in {self.storage.base_path}",
                fix="let one process follow a server. Run again, it goes on from there",
            ) from None
        for number in self._numbers()[:-_KEPT]:
            self.storage.delete(self._path(number))

    def _numbers(self) -> list[int]:
        names = (_FILE.fullmatch(file.name) for file in self.storage.list(self._folder).files)
        return sorted(int(match["number"]) for match in names if match is not None)

    def _read(self, number: int) -> Cut:
        path = self._path(number)
        try:
            body = json.loads(self.storage.read(path))
            tables = {name: TablePlace(**values) for name, values in body.pop("tables").items()}
            behind = {name: Behind(**values) for name, values in body.pop("behind").items()}
            return Cut(**body, tables=tables, behind=behind)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CorruptTableError(
                f"The cut {path} of the server {self.server} cannot be read",
                found=f"{type(error).__name__}: {error}",
                fix=f"delete the file {join(self.storage.base_path, path)}: each table knows its own position",
            ) from error

    @property
    def _folder(self) -> str:
        return join(self.server, "cuts")

    def _path(self, number: int) -> str:
        return join(self._folder, f"{number:010}.json")

"""Documents that follow each other in a folder: a file for each, put only where its number is not taken."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from hoodie.errors import CorruptTableError, PendingInstantError
from hoodie.storage import Storage, join
from hoodie.storage.idempotent import create_own

_FILE = re.compile(r"(?P<number>[0-9]{10})\.json")


@dataclass(frozen=True)
class FileSequence:
    """The documents of the server `server` in `folder`. `kept` of them stay. `noun` names one in messages."""

    storage: Storage
    server: str
    folder: str
    kept: int
    noun: str

    def latest(self) -> tuple[int, dict[str, Any]] | None:
        """Return the newest document and its number, None where there is none.

        Raises CorruptTableError for one that cannot be read.
        """
        numbers = self.numbers()
        return (numbers[-1], self.read(numbers[-1])) if numbers else None

    def read(self, number: int) -> dict[str, Any]:
        """Return a document. Raises CorruptTableError for one that cannot be read, FileNotFoundError for one that is gone."""
        try:
            return dict(json.loads(self.storage.read(self._path(number))))
        except (ValueError, TypeError) as error:
            raise self.unreadable(number, error) from error

    def put(self, number: int, document: dict[str, Any]) -> None:
        """Store a document, and remove those that are old. Raises PendingInstantError where another process took the number."""
        body = json.dumps(document, ensure_ascii=False, sort_keys=True).encode()
        try:
            create_own(self.storage, self._path(number), body)
        except FileExistsError:
            raise PendingInstantError(
                f"Another process follows the server {self.server} at the same time",
                found=f"it stored {self._path(number)} in {self.storage.base_path}",
                fix="let one process follow a server. Run again, it goes on from there",
            ) from None
        for old in self.numbers()[: -self.kept]:
            self.storage.delete(self._path(old))

    def unreadable(self, number: int, error: Exception) -> CorruptTableError:
        """Return the error for a document with other contents."""
        path = self._path(number)
        return CorruptTableError(
            f"The {self.noun} {path} of the server {self.server} cannot be read",
            found=f"{type(error).__name__}: {error}",
            fix=f"delete the file {join(self.storage.base_path, path)}: each table knows its own position",
        )

    def numbers(self) -> list[int]:
        """Return the numbers of the documents, the oldest first."""
        names = (_FILE.fullmatch(file.name) for file in self.storage.list(self._place).files)
        return sorted(int(match["number"]) for match in names if match is not None)

    @property
    def _place(self) -> str:
        return join(self.server, self.folder)

    def _path(self, number: int) -> str:
        return join(self._place, f"{number:010}.json")

"""Erases the bad rows of a person from a quarantine: a file with some of them is written again without them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hoodie.storage import open_storage, walk_files

_ENDING = ".jsonl"


@dataclass(frozen=True)
class BadRowPurge:
    """The bad rows in `folder` that have one of the `values` in one of the `columns`, or in a text that is not a row.

    `mark` is part of the names of files that are written again.
    """

    folder: str
    columns: frozenset[str]
    values: frozenset[str]
    mark: str

    def found(self) -> int:
        """The rows that `erase` would remove. Changes nothing."""
        return sum(len(lines) - len(kept) for _, lines, kept in self._files())

    def erase(self) -> int:
        """Remove the rows, and return how many there were. Safe to kill: a new file is there before the old one goes."""
        storage, count = open_storage(self.folder), 0
        for path, lines, kept in self._files():
            if kept:
                text = "".join(f"{line}\n" for line in kept)
                with suppress(FileExistsError):  # of a run that was killed
                    storage.create(f"{path.removesuffix(_ENDING)}-{self.mark}{_ENDING}", text.encode())
            storage.delete(path)
            count += len(lines) - len(kept)
        return count

    def _files(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each file with rows to remove: its path, its lines, and those that stay."""
        storage = open_storage(self.folder)
        for file in list(walk_files(storage, "")):
            if not file.name.endswith(_ENDING):
                continue
            lines = storage.read(file.path).decode(errors="replace").splitlines()
            kept = [line for line in lines if not self._matches(line)]
            if len(kept) < len(lines):
                yield file.path, lines, kept

    def _matches(self, line: str) -> bool:
        try:
            entry = json.loads(line)
        except ValueError:
            return self._in_text(line)
        row: Any = entry.get("row") if isinstance(entry, dict) else None
        if isinstance(row, dict):
            return any(str(row[name]) in self.values for name in self.columns if name in row)
        return self._in_text(line)

    def _in_text(self, text: str) -> bool:
        return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) for value in self.values)

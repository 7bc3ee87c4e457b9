"""Rows that cannot be loaded: kept with the reason, counted, never lost."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.storage import Storage, open_storage

_log = logging.getLogger(__name__)

_COUNTS = "_counts-"


@dataclass(frozen=True)
class QuarantineWriter:
    """Where one run puts its bad rows: JSON lines of source file, reason and row, one file a task that met some."""

    folder: str  # of all runs
    run: str

    @property
    def path(self) -> str:
        return f"{self.folder.rstrip('/')}/{self.run}"

    @contextmanager
    def open(self, number: int) -> Iterator[QuarantinedRows]:
        """Collects the bad rows of one task and writes them at the end of the block. A task that runs again replaces its file."""
        held = QuarantinedRows()
        yield held
        storage = open_storage(self.folder)
        outputs = {f"{self.run}/{_COUNTS}{number}.json": json.dumps({"read": held.read, "bad": len(held.lines)})}
        if held.lines:
            outputs[f"{self.run}/rows-{number}.jsonl"] = "".join(line + "\n" for line in held.lines)
        for path, text in outputs.items():
            storage.delete(path)
            storage.create(path, text.encode())

    def totals(self) -> tuple[int, int]:
        """Rows read and rows quarantined by all tasks of the run, as they stand now."""
        storage = open_storage(self.folder)
        read = bad = 0
        for file in storage.list(self.run).files:
            if file.name.startswith(_COUNTS):
                counts = json.loads(storage.read(file.path))
                read, bad = read + counts["read"], bad + counts["bad"]
        return read + bad, bad

    def tidy(self, *, keep_rows: bool) -> None:
        """Remove the counts, and the folder when nothing else is in it. What cannot be removed must not hide what was loaded."""
        try:
            self._tidy(open_storage(self.folder), keep_rows)
        except OSError as error:
            _log.warning("The counts in %s could not be removed: %s", self.path, error)

    def _tidy(self, storage: Storage, keep_rows: bool) -> None:
        files = storage.list(self.run).files
        if not keep_rows or all(file.name.startswith(_COUNTS) for file in files):
            storage.delete_folder(self.run)
            return
        for file in files:
            if file.name.startswith(_COUNTS):
                storage.delete(file.path)


@dataclass
class QuarantinedRows:
    """The bad rows of one task, and how many good ones it read."""

    lines: list[str] = field(default_factory=list)
    read: int = 0

    def add(self, rows: pa.Table, path: str, reasons: Sequence[str]) -> None:
        for row, reason in zip(rows.to_pylist(), reasons, strict=True):
            self.lines.append(json.dumps({"file": path, "reason": reason, "row": row}, default=str))
            self.read -= 1

    def add_text(self, path: str, text: str, reason: str) -> None:
        self.lines.append(json.dumps({"file": path, "reason": reason, "text": text}))

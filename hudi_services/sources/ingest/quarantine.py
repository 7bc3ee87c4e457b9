"""Rows that cannot be loaded: kept with the reason, counted, never lost.

Below the folder of all runs each run has a folder of its bad rows, if it met some, and while it works `.running-<table>-<run>`
with the counts of its tasks. A run that was killed leaves the latter: by it the next run knows whose rows are of no use.
A hidden file in the folder of a run that has ended says of which table it was, and whether it was refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.model.place import identity
from hoodie.storage import Storage, open_storage
from hudi_services.runtime.json_values import json_row_values

_log = logging.getLogger(__name__)
_LONGEST = 200  # characters of an example
_KINDS = 100  # kinds of reasons that a task counts
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_WORKING = re.compile(r"\.running-[0-9a-f]{16}-(.+)")
LOADED, REFUSED = "loaded", "refused"
"""Outcomes of a run that left rows: those around them are in the table, or nothing of it is."""

EXTRA = "hudi_services.quarantine"
"""The folder of a run's bad rows, in the extra metadata of its commit."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of a run: all that were read, and of them those that its SQL left out and those in the quarantine.

    `example` says of one bad row where it is from, and the reason, in a line for people. The reason is the most frequent one.
    """

    read: int = 0
    filtered: int = 0
    bad: int = 0
    example: str = ""


@dataclass(frozen=True)
class QuarantineWriter:
    """The bad rows of one run: JSON lines with origin (`file`), reason and row, in one file for each task that met some."""

    folder: str  # shared by all runs
    table: str  # base path
    run: str

    @property
    def path(self) -> str:
        return f"{self.folder.rstrip('/')}/{self.run}"

    @property
    def _prefix(self) -> str:
        """The prefix of the counts of all runs of this table: runs of other tables may have the same folder."""
        return f".running-{_digest(self.table)}-"

    @contextmanager
    def open(self, number: int) -> Iterator[QuarantinedRows]:
        """Collects the bad rows of one task and writes them at the end of the block. A task run again replaces its files."""
        quarantined = QuarantinedRows()
        yield quarantined
        storage = open_storage(self.folder)
        counts = json.dumps(
            {
                "good": quarantined.good,
                "filtered": quarantined.filtered,
                "bad": len(quarantined.lines),
                "examples": quarantined.examples,
            }
        )
        # Counts come first, so that rows never lie there without the name of their run.
        _replace(storage, f"{self._prefix}{self.run}/{number}.json", counts)
        if quarantined.lines:
            _replace(storage, f"{self.run}/rows-{number}.jsonl", "".join(line + "\n" for line in quarantined.lines))

    def totals(self) -> Counts:
        """The rows of all tasks of the run, as counted so far."""
        storage = open_storage(self.folder)
        good = filtered = bad = 0
        examples: list[Mapping[str, tuple[int, str]]] = []
        for file in storage.list(f"{self._prefix}{self.run}").files:
            counts = json.loads(storage.read(file.path))
            good, filtered, bad = good + counts["good"], filtered + counts["filtered"], bad + counts["bad"]
            examples.append(counts["examples"])
        return Counts(good + filtered + bad, filtered, bad, most_frequent(examples))

    def finish(self, *, keep_rows: bool, refused: bool = False) -> None:
        """End the run. Files that cannot be removed must not hide the result of the load: they are left to the next run."""
        mark = mark_of(REFUSED if refused else LOADED, self.table) if keep_rows else None
        try:
            _finish(open_storage(self.folder), self._prefix, self.run, mark)
        except OSError as error:
            _log.warning("The rest of %s could not be removed: %s", self.path, error)

    def finish_killed(self, newest: Callable[[], str]) -> None:
        """Remove what killed runs of the table left. Call it under the table's lock, where no other run is at work.

        `newest` returns the entry `EXTRA` of the newest commit of an ingestion, empty if it has none. It is called only if a
        killed run is found. The rows of such a run were committed only if the entry names it, as each run removes the leftovers
        of earlier ones.
        """
        storage = open_storage(self.folder)
        runs = [name.removeprefix(self._prefix) for name in storage.list("").folders if name.startswith(self._prefix)]
        killed = [run for run in runs if run != self.run]
        if not killed:
            return
        committed = newest().rpartition("/")[2]
        for run in killed:
            _finish(storage, self._prefix, run, mark_of(LOADED, self.table) if run == committed else None)


@dataclass(frozen=True)
class NoQuarantine(QuarantineWriter):
    """Writes nothing: for a reading of the rows before the load, which puts the bad ones aside."""

    folder: str = ""
    table: str = ""
    run: str = ""

    @contextmanager
    def open(self, number: int) -> Iterator[QuarantinedRows]:
        """Collects the bad rows of one task and forgets them."""
        yield QuarantinedRows()


@dataclass
class QuarantinedRows:
    """The bad rows of one task, how many good ones it read, and how many were filtered. `examples` has the number of rows of each
    kind of reason, and the first of them."""

    lines: list[str] = field(default_factory=list)
    examples: dict[str, tuple[int, str]] = field(default_factory=dict)
    good: int = 0
    filtered: int = 0

    def add(self, rows: pa.Table, origin: str, reasons: Sequence[str]) -> None:
        for row, reason in zip(json_row_values(rows), reasons, strict=True):
            self.add_unread(origin, row, reason)

    def add_unread(self, origin: str, value: str | Mapping[str, object], reason: str) -> None:
        """Add something that is not a row that was read: text, or values by column."""
        row = {"text" if isinstance(value, str) else "row": value}
        kind = kind_of(reason)
        if kind in self.examples or len(self.examples) < _KINDS:
            number, example = self.examples.get(kind) or (0, _line(f"{origin}: {reason}"))
            self.examples[kind] = (number + 1, example)
        self.lines.append(json.dumps({"file": origin, "reason": reason, **row}, default=str))


def most_frequent(examples: Iterable[Mapping[str, tuple[int, str]]]) -> str:
    """The first bad row of the most frequent kind of reason, from the examples of tasks; empty without any."""
    united: dict[str, tuple[int, str]] = {}
    for kind, (number, example) in (item for of_task in examples for item in of_task.items()):
        before, first = united.get(kind, (0, example))
        united[kind] = (before + number, first)
    return max(united.values(), key=lambda counted: counted[0], default=(0, ""))[1]


def kind_of(reason: str) -> str:
    """The reason without the values that it quotes: rows with other values have it, too."""
    return _VALUES.sub("…", reason)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _replace(storage: Storage, path: str, text: str) -> None:
    storage.delete(path)
    with suppress(FileExistsError):  # another attempt of the task, which wrote the same
        storage.create(path, text.encode())


def _finish(storage: Storage, prefix: str, run: str, mark: str | None) -> None:
    """Remove the counts of a run. Its rows stay with a mark, and go without one."""
    if mark is None:
        storage.delete_folder(run)
    elif storage.list(run).files:
        with suppress(FileExistsError):
            storage.create(f"{run}/{mark}", b"")
    storage.delete_folder(f"{prefix}{run}")


def mark_of(outcome: str, table: str) -> str:
    """The name of the file that marks a run of the table at this base path."""
    return f".{outcome}-{_digest(table)}"


def run_at_work(folder: str) -> str | None:
    """The run of a folder of counts: it goes on, or was killed. None for any other folder."""
    match = _WORKING.fullmatch(folder)
    return match[1] if match is not None else None


def _digest(table: str) -> str:
    return hashlib.sha256(identity(table).encode()).hexdigest()[:16]

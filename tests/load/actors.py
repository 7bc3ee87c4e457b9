"""Processes of the load test: writers, services and readers of several tables. Each says what it does in a log of its own."""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError, UnclearCommitError
from hoodie.storage import LocalStorage
from tests.support.random_writes import PARTITIONS, WRITER
from tests.support.rivals import QuickClock
from tests.support.tables import SMALL_BLOOM, batch

KEYS = tuple(f"k{number}" for number in range(40))
DEAD_AFTER_SECONDS = 3.0  # whose heartbeat is older
_SHARED = {
    **SMALL_BLOOM,
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.client.heartbeat.interval_in_ms": 1000,
    "hoodie.write.lock.wait_time_ms": 60_000,
}
_LEASED = {"hoodie.write.lock.provider": "StorageBasedLockProvider", "hoodie.write.lock.storage.renew.interval.secs": 2}


@dataclass(frozen=True)
class Loaded:
    """A table of the load, and by which lock its writers exclude each other."""

    path: str
    kind: str
    version: str
    leased: bool

    @property
    def options(self) -> dict[str, object]:
        """Options for a writer of the table."""
        return {**_SHARED, **(_LEASED if self.leased else {})}

    def open(self) -> HoodieTable:
        """As a process of its own sees it."""
        return HoodieTable(LocalStorage(self.path), LocalEngine(1), QuickClock())


def rows_of(keys: Sequence[str], number: int) -> list[tuple[str, str, int, int]]:
    """The rows of a write. Their value is its number, so that a reader's rows show the writes it sees."""
    return [(key, PARTITIONS[int(key[1:]) % 2], 1, number) for key in keys]


def write(tables: Sequence[Loaded], log: Path, seed: int) -> None:
    """Write for ever. A line before the call; one after it has returned is its acknowledgement."""
    dice, said = random.Random(seed), Log(log)
    for number in range(seed * 100_000, (seed + 1) * 100_000):
        loaded = dice.choice(tables)
        operation, keys = dice.choice(("upsert", "upsert", "upsert", "delete")), dice.sample(KEYS, dice.randint(1, 4))
        if dice.random() < 0.2:
            operation, keys = "insert", [f"n{number}"]
        said.say(did="try", table=loaded.path, number=number, operation=operation, keys=keys)
        try:
            loaded.open().write(
                batch(rows_of(keys, number)), operation, loaded.options, extra_metadata={WRITER: str(number)}
            )
        except UnclearCommitError:
            said.say(did="unclear", number=number)
        except HoodieError as error:
            said.say(did="lost", number=number, **_told(error))
        else:
            said.say(did="done", number=number)


def serve(tables: Sequence[Loaded], log: Path, seed: int) -> None:
    """Clean and compact for ever."""
    dice, said = random.Random(seed), Log(log)
    while True:
        loaded = dice.choice(tables)
        table = loaded.open()
        try:
            if loaded.kind == "MERGE_ON_READ" and dice.random() < 0.6:
                table.schedule(COMPACTION, loaded.options, force=True)
                table.run(COMPACTION, loaded.options)
            else:
                table.run(CLEAN, {**loaded.options, "hoodie.clean.commits.retained": 3})
        except HoodieError as error:
            said.say(did="lost", **_told(error))
        else:
            said.say(did="served", table=loaded.path)
        time.sleep(0.3)


def read(tables: Sequence[Loaded], log: Path, seed: int) -> None:
    """Read for ever: the value of each key, in the order in which they came, so that a key that comes twice is seen."""
    dice, said = random.Random(seed), Log(log)
    while True:
        loaded = dice.choice(tables)
        try:
            rows = loaded.open().read(columns=["id", "value"])
        except HoodieError as error:
            said.say(did="lost", **_told(error))
        else:
            said.say(did="read", table=loaded.path, rows=list(zip(*rows.to_pydict().values(), strict=True)))
        time.sleep(0.1)


def _told(error: HoodieError) -> dict[str, str]:
    """A user's error message and its origin: the output alone must explain a failure of the load."""
    return {"error": type(error).__name__, "trace": "".join(traceback.format_exception(error))}


class Log:
    """Lines that are in the file, each whole, when the call returns: also after a SIGKILL."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def say(self, **words: Any) -> None:
        os.write(self._file, (json.dumps({"at": round(time.monotonic(), 2), **words}) + "\n").encode())


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The output lines of all processes."""
    for path in sorted(folder.iterdir()):
        yield from (json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n"))

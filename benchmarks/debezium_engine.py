"""Debezium's engine: puts the changes of a table of MariaDB into a folder, as files of JSON.

Runs in an environment of its own: python -m benchmarks.debezium_engine PORT FOLDER
Each line of standard input is a table, a folder and a number of events. The engine starts where it ended before, stops after as
many events, and prints a line about them. FOLDER is for what it notes itself. With one more word, `apart`, the table is a regular
expression, and the files of each table are in a folder of its name.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from benchmarks.memory import PeakMemory, processor_seconds
from benchmarks.program import reply
from benchmarks.usage import run

USER, PASSWORD = "debezium", "dbz"
MEMORY = "2g"  # heap
LOG = Path("logs/pydbzengine.log")  # which the package configures, in the current folder
FLUSH = 1.0  # seconds to wait for the offsets of the last batch, off the clock


class ChangeEvent(Protocol):
    """An event of the engine, whose value is a text of JSON."""

    def value(self) -> object: ...

    def destination(self) -> object: ...


class EventFiles:
    """The engine's consumer. Each of its batches becomes a file, until there are as many events as expected.

    `apart`: it becomes a file for each table.
    """

    def __init__(self, folder: Path, expected: int, *, apart: bool = False) -> None:
        self._folder, self._batches, self._apart = folder, 0, apart
        self.expected = expected
        self.events = 0
        self.complete = threading.Event()

    def handleJsonBatch(self, records: Iterable[ChangeEvent]) -> None:  # noqa: N802
        """Write a batch. A reader of the folder never sees half a file."""
        folders: dict[Path, list[str]] = {}
        for record in records:
            table = str(record.destination()).rpartition(".")[2] if self._apart else ""
            folders.setdefault(self._folder / table, []).append(str(record.value()))
        for folder, lines in folders.items():
            folder.mkdir(exist_ok=True)
            hidden = folder / f".{self._batches:06d}"
            hidden.write_text("\n".join(lines) + "\n")
            hidden.rename(folder / f"{self._batches:06d}.json")
        self._batches += 1
        self.events += sum(map(len, folders.values()))
        if self.events >= self.expected:
            self.complete.set()


def engine_properties(port: str, table: str, folder: Path) -> dict[str, str]:
    """A table's rows at first, then its binlog, by Debezium's documentation: rows without envelope, deletes with a mark."""
    return {
        "name": "bench",
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "topic.prefix": "bench",
        "database.hostname": "127.0.0.1",
        "database.port": port,
        "database.user": USER,
        "database.password": PASSWORD,
        "database.ssl.mode": "disable",
        "database.server.id": "5402",
        "table.include.list": table,
        "snapshot.mode": "initial",
        "snapshot.locking.mode": "none",  # nothing writes in the meantime
        "include.schema.changes": "false",
        "tombstones.on.delete": "false",
        "decimal.handling.mode": "string",
        "key.converter.schemas.enable": "false",
        "value.converter.schemas.enable": "false",
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.unwrap.delete.tombstone.handling.mode": "rewrite",
        "transforms.unwrap.add.fields": "source.file,source.pos",
        "max.batch.size": "20480",  # ten times the default, as the queue: fewer and larger files
        "max.queue.size": "81920",
        "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
        "offset.storage.file.filename": str(folder / "offsets"),
        "offset.flush.interval.ms": "0",  # after each batch, so that no event comes again
        "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
        "schema.history.internal.file.filename": str(folder / "schema-history"),
    }


def _follow(properties: dict[str, str], events: EventFiles) -> None:
    """Run the engine until all events are in the folder, report them, and stop it when it has stored its offsets."""
    before = processor_seconds()
    engine = importlib.import_module("pydbzengine").DebeziumJsonEngine(properties, events)
    with ThreadPoolExecutor(1) as pool, PeakMemory() as memory:
        running = pool.submit(engine.run)
        while not events.complete.wait(0.05):
            if running.done():
                running.result()
                raise SystemExit(f"the engine ended after {events.events:,} events: see {LOG.resolve()}")
        reply(processor=processor_seconds() - before, peak_memory=memory.bytes)
        time.sleep(FLUSH)
        engine.close()
    if events.events != events.expected:
        raise SystemExit(f"{events.events:,} events came, not {events.expected:,}")


def main(port: str, folder: str) -> None:
    importlib.import_module("pydbzengine._jvm")  # starts the JVM
    reply(pid=os.getpid())
    for line in sys.stdin:
        table, target, expected, *apart = line.split()
        notes = Path(folder, table)
        notes.mkdir(exist_ok=True)
        _follow(engine_properties(port, table, notes), EventFiles(Path(target), int(expected), apart=bool(apart)))


if __name__ == "__main__":
    run(main, __doc__)

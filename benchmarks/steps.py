"""What both sides report: seconds of each step, peak memory, bytes and files of the table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakMemory


class Steps:
    """Times steps and prints the report as the last line of standard output."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self.seconds: dict[str, float] = {}
        self.results: dict[str, Any] = {}

    def run(self, name: str, step: Callable[[], Any]) -> None:
        begun = time.perf_counter()
        result = step()
        self.seconds[name] = time.perf_counter() - begun
        if result is not None:
            self.results[name] = result
        print(f"{name}: {self.seconds[name]:.1f} s", file=sys.stderr, flush=True)

    def report(self, memory: PeakMemory) -> None:
        files = [path for path in self._table.rglob("*") if path.is_file() and not path.name.endswith(".crc")]
        data = [path for path in files if path.suffix == ".parquet" and ".hoodie" not in path.parts]
        print(
            json.dumps(
                {
                    "seconds": self.seconds,
                    "results": self.results,
                    "peak_memory": memory.bytes,
                    "table_bytes": sum(path.stat().st_size for path in files),
                    "data_files": len(data),
                }
            )
        )


@contextmanager
def measured(table: Path) -> Iterator[Steps]:
    """Steps on a table, with the report at the end."""
    steps = Steps(table)
    with PeakMemory() as memory:
        yield steps
    steps.report(memory)

"""The report of both sides: seconds of each step, peak memory, bytes and files of the table."""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakMemory, processor_seconds
from benchmarks.shapes import Shape

BOOTSTRAP_MODES = {"METADATA_ONLY": "", "FULL_RECORD": "-full"}  # each makes a table of its own
READ_WARM_UPS = 5  # queries of the plain input before a read is timed: both JVMs have compiled the scan then
AGAIN = 5  # times that a query is repeated
PLAIN = "the same query on the plain input"  # Spark alone: no table format, no updates
UPSERT, LOGGED_UPSERT, CHANGES = "upsert", "upsert with logs of changes", "changes of the upsert"
CDC = {
    "hoodie.table.cdc.enabled": "true",
    "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER",
}
AS_ARROW = ", as Arrow"  # ends the name of a query that is answered without Spark
ROWS = "-rows.parquet"  # ends the name of a file with all rows of delta-rs' table, which are compared with ours


def by_partition(frame: Any, shape: Shape) -> list[list[object]]:
    """The query that is timed: sums and a count by partition over all rows of a DataFrame."""
    aggregates = {**dict.fromkeys(shape.sums, "sum"), shape.key[0]: "count"}
    rows = frame.groupBy(shape.partition).agg(aggregates).orderBy(shape.partition).collect()
    return [
        [row[shape.partition], *(round(row[f"sum({name})"], 2) for name in shape.sums), row[f"count({shape.key[0]})"]]
        for row in rows
    ]


def clustering_options(shape: Shape) -> dict[str, str]:
    """Rows are sorted by the first column that the query sums; all files are small ones by Hudi's defaults."""
    return {"hoodie.clustering.plan.strategy.sort.columns": shape.sums[0], "hoodie.parquet.compression.codec": "zstd"}


def merge_statement(table: str, changes: str, shape: Shape) -> str:
    """MERGE INTO of the rows of a view: those whose key is there are replaced, the others are inserted."""
    same = " AND ".join(f"t.{name} = s.{name}" for name in (*shape.key, shape.partition))
    return (
        f"MERGE INTO {table} t USING {changes} s ON {same} "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


def writes(source: str, shape: Shape) -> list[tuple[list[str], str]]:
    """The files of each write of the input, and its operation: the first load, then the upserts."""
    upserts = [([f"{source}/upsert-{batch}.parquet"], "upsert") for batch in range(shape.upserts)]
    return [(sorted(map(str, Path(source).glob("base-*.parquet"))), "bulk_insert"), *upserts]


def newest_completion(table: Path) -> str:
    """When the last write was completed."""
    return _completions(table)[-1]


def second_newest_completion(table: Path) -> str:
    """When the write before the last one was completed: from then on an incremental query reads the last batch."""
    return _completions(table)[-2]


def _completions(table: Path) -> list[str]:
    names = [path.name for path in (table / ".hoodie" / "timeline").iterdir()]
    return sorted(name.split("_")[1].split(".")[0] for name in names if re.fullmatch(r"\d+_\d+\.(delta)?commit", name))


def table_files(table: Path) -> tuple[list[Path], list[Path]]:
    """All files of a table, and those of them that are its data."""
    files = [path for path in table.rglob("*") if path.is_file() and not path.name.endswith(".crc")]
    return files, [path for path in files if path.suffix == ".parquet" and ".hoodie" not in path.parts]


class Steps:
    """Times steps and prints the report as the last line of standard output."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}  # seconds of all cores together
        self.results: dict[str, Any] = {}

    def run(self, name: str, step: Callable[[], Any]) -> None:
        """Run `step` once."""
        start, processor = time.perf_counter(), processor_seconds()
        result = step()
        self._note(name, [time.perf_counter() - start], processor, result)

    def query(self, name: str, step: Callable[[], Any]) -> None:
        """Run `step` for the first time in its session, then repeat it."""
        self.run(f"{name}, first", step)
        self.repeat(name, step)

    def repeat(self, name: str, step: Callable[[], Any]) -> None:
        """Run `step` several times; the median counts."""
        seconds, processor = [], processor_seconds()
        for _ in range(AGAIN):
            start = time.perf_counter()
            result = step()
            seconds.append(time.perf_counter() - start)
        self._note(name, seconds, processor, result)

    def _note(self, name: str, seconds: list[float], processor_before: float, result: Any) -> None:
        self.seconds[name] = statistics.median(seconds)
        self.processor[name] = (processor_seconds() - processor_before) / len(seconds)
        if result is not None:
            self.results[name] = result
        print(f"{name}: {self.seconds[name]:.2f} s", file=sys.stderr, flush=True)

    def report(self, memory: PeakMemory) -> None:
        files, data = table_files(self._table)
        print(
            json.dumps(
                {
                    "seconds": self.seconds,
                    "processor": self.processor,
                    "results": self.results,
                    "peak_memory": memory.bytes,
                    "table_bytes": sum(path.stat().st_size for path in files),
                    "data_files": len(data),
                    "data_bytes": sum(path.stat().st_size for path in data),
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

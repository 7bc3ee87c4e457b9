"""An hour of micro-batches, one after the other, and a consumer that reads the changes of each.

`python -m benchmarks.batch_hour` writes 720 batches of 1,000 rows, one for each 5 seconds of an hour, into a merge-on-read
table of 100,000 keys, with compaction, cleaning and archiving. For each sixth of the hour it prints the median seconds of a batch
and of the consumer's read, then the files of the table, the instants of its timeline and the bytes of its metadata. They are to
stay level. The processor seconds say the same where other programs run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq

from benchmarks.stream_sink import make_batches
from benchmarks.stream_writer import OPTIONS, SERVICES
from hoodie import HoodieTable
from hoodie.consumer import Consumer
from hoodie.engine import LocalEngine
from hoodie.spark.stream.batch_writer import BatchWriter, SinkWrites
from hoodie.spark.stream.batches import StreamBatch

ROWS = 1_000
PARTS = 6
GROWTH = 1.2  # the last part of the hour against the second: the first one fills the timeline
HEADER = "| batches | batch, s | processor s | read, s | processor s | files | instants | metadata, kB |"


@dataclass(frozen=True)
class Round:
    """Seconds and processor seconds of a batch, and of the consumer's read of its changes."""

    write: float
    write_processor: float
    read: float
    read_processor: float


def main(folder: Path, batches: int) -> int:
    """Print the table. Return 1 where the last part of the hour is slower, or has more files or instants, than the second."""
    source, path = folder / f"stream-{ROWS}-{batches}", folder / "micro-batches"
    make_batches(source, ROWS, batches)
    shutil.rmtree(path, ignore_errors=True)
    table = HoodieTable.create(path, OPTIONS)
    table.write(pq.read_table(source / "base.parquet"), "bulk_insert")
    consumer = table.consumer("pull")
    consumer.reset("latest")
    writer = BatchWriter(SinkWrites(str(path), "upsert", SERVICES))
    print(f"{HEADER}\n|{'---:|' * HEADER.count(' | ')}---:|")
    parts: list[tuple[float, float, int, int]] = []
    rounds: list[Round] = []
    for number in range(batches):
        rounds.append(_round(writer, consumer, source / "batches" / f"{number:05d}.parquet", number))
        if (number + 1) % (batches // PARTS) == 0:
            parts.append(_report(number + 1, rounds, path))
            rounds = []
    second, last = parts[1], parts[-1]
    level = all(after <= before * GROWTH for before, after in zip(second, last, strict=True))
    print("level" if level else f"not level: the last part takes more than {GROWTH} times of the second")
    return int(not level)


def _round(writer: BatchWriter, consumer: Consumer, file: Path, number: int) -> Round:
    rows = pq.read_table(file)
    start, processor = time.monotonic(), time.process_time()
    writer.write(StreamBatch("hour", number, "run"), rows, rows.schema, LocalEngine(2))
    written, written_processor = time.monotonic(), time.process_time()
    changes = consumer.read()
    consumer.commit()
    assert changes.num_rows == ROWS, f"{changes.num_rows} changes of batch {number}"
    return Round(
        written - start,
        written_processor - processor,
        time.monotonic() - written,
        time.process_time() - written_processor,
    )


def _report(batches: int, rounds: list[Round], path: Path) -> tuple[float, float, int, int]:
    metadata = [file for file in (path / ".hoodie").rglob("*") if file.is_file()]
    files = sum(1 for file in path.rglob("*") if file.is_file()) - len(metadata)
    instants = sum(1 for _ in HoodieTable.open(path).timeline)
    size = sum(file.stat().st_size for file in metadata) >> 10
    write, write_processor, read, read_processor = (
        median(getattr(round, name) for round in rounds)
        for name in ("write", "write_processor", "read", "read_processor")
    )
    print(
        f"| {batches} | {write:.3f} | {write_processor:.3f} | {read:.3f} | {read_processor:.3f} "
        f"| {files} | {instants} | {size:,} |",
        flush=True,
    )
    return write_processor, read_processor, files, instants


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch_hour", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    parser.add_argument("--batches", type=int, default=720)
    options = parser.parse_args()
    sys.exit(main(options.folder, options.batches))

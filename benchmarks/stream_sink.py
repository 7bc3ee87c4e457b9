"""Streams into a merge-on-read table: seconds of the sink for each micro-batch, ours beside Hudi's own streaming sink.

`python -m benchmarks.bench stream-sink` upserts batches of 1,000 rows into a table that has all keys, with compaction, cleaning
and archiving beside (110 batches, `--batches` says another number), then batches of 200,000 rows without services. A batch is a
file that Spark's stream reads. The sink's seconds are those that Spark notes as `addBatch`: reading the file is a part of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.runners import HUDI, Runner, our_command, peer_command, run
from tests.interop import peer_env

KEYS = 100_000
WARM = 10  # batches that are not counted
LARGE, LARGE_BATCHES = 200_000, 6
ROWS_PER_SECOND = 75_000  # the objectives of large batches, and of small ones in seconds
P50, P99, GROWTH = 0.5, 1.0, 1.2


def report(options: argparse.Namespace) -> int:
    """Run both sides, print the table; 1 when ours misses an objective."""
    runner_arguments = (str(options.cores), options.memory)
    jar = str(peer_env.BUNDLES[HUDI])
    missed = False
    print(f"sink seconds of a micro-batch, merge on read, {options.cores} cores, JVM heap {options.memory}")
    for rows, batches in ((1000, options.batches), (LARGE, LARGE_BATCHES)):
        source = options.folder / f"stream-{rows}-{batches}"
        make_batches(source, rows, batches)
        runners = (
            Runner(
                "ours",
                our_command("benchmarks.stream_writer"),
                options.folder / "our-stream",
                runner_arguments,
                ("stream",),
            ),
            Runner(
                f"Hudi {HUDI}",
                peer_command("benchmarks.hudi_stream"),
                options.folder / "hudi-stream",
                (*runner_arguments, jar),
                ("stream",),
            ),
        )
        for runner in runners:
            seconds = run(runner, source)["results"]["sink"]
            print(f"{rows:>8,} rows  {runner.name:<12} {line(seconds, rows)}", flush=True)
            missed = missed or (runner.name == "ours" and not reached(seconds, rows))
    return int(missed)


def line(seconds: list[float], rows: int) -> str:
    """The figures of the batches of one size."""
    warm = counted(seconds, rows)
    text = f"p50 {np.median(warm):.2f} s, p99 {np.quantile(warm, 0.99):.2f} s, {rows / np.median(warm):,.0f} rows/s"
    return text if rows == LARGE else f"{text}, the last 20 batches against the first {growth(warm):.2f}"


def reached(seconds: list[float], rows: int) -> bool:
    """True if the batches reach what they are to reach."""
    warm = counted(seconds, rows)
    if rows == LARGE:
        return bool(rows / np.median(warm) >= ROWS_PER_SECOND)
    return bool(np.median(warm) < P50 and np.quantile(warm, 0.99) < P99 and growth(warm) <= GROWTH)


def counted(seconds: list[float], rows: int) -> list[float]:
    """The batches after the warm ones: of large batches the first one alone is warm."""
    return seconds[1 if rows == LARGE else WARM :]


def growth(seconds: list[float]) -> float:
    """The last batches against those around the 100th, or against the first of a shorter stream."""
    first = min(90, max(0, len(seconds) - 40))
    return float(np.median(seconds[-20:]) / np.median(seconds[first : first + 20]))


def make_batches(folder: Path, rows: int, batches: int) -> None:
    """Write `base.parquet` with all keys, and a file of changed rows for each batch. Nothing if they are there."""
    if folder.exists():
        return
    (folder / "batches").mkdir(parents=True)
    random = np.random.default_rng(7)
    pq.write_table(_rows(np.arange(KEYS), 0, random), folder / "base.parquet")
    for number in range(batches):
        keys = random.permutation(max(KEYS, rows))[:rows]
        pq.write_table(_rows(keys, number + 1, random), folder / "batches" / f"{number:05d}.parquet")


def _rows(keys: np.ndarray, batch: int, random: np.random.Generator) -> pa.Table:
    count = len(keys)
    return pa.table(
        {
            "id": pa.array([f"k{key:08d}" for key in keys.tolist()]),
            "part": pa.array([f"p{key % 4}" for key in keys.tolist()]),
            "ts": pa.array(np.full(count, batch, dtype=np.int64)),
            "amount": pa.array(random.random(count)),
            "quantity": pa.array(random.integers(0, 1000, count)),
            "note": pa.array([f"of batch {batch}, for {key}" for key in keys.tolist()]),
        }
    )

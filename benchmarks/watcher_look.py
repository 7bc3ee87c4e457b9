"""A watcher's look at tables past all bounds: a partition of many files, a timeline of many instants.

`python -m benchmarks.watcher_look --files 100000 --instants 50000` prints the seconds of the first look, of one that finds a new
commit and of one at a quiet table, the bytes that the store then holds of the table, and the peak of memory. Each table is
looked at in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from benchmarks.small_files import OPTIONS, ROOT, SCHEMA, make
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.display import size_of
from hudi_services.entry.table import Table
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look

_MS = "%Y%m%d%H%M%S%f"
_ALONE = {"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"}


def with_files(folder: Path, count: int) -> None:
    """One partition, one commit."""
    make(folder, 1, 1, files=count)


def with_instants(folder: Path, count: int) -> None:
    """Completed commits, a second apart; all have the metadata of the first one."""
    table = HoodieTable.create(str(folder), OPTIONS, SCHEMA)
    table.write(_row("k"), "insert")
    timeline = folder / ".hoodie" / "timeline"
    (completed,) = timeline.glob("*.commit")
    body, first = completed.read_bytes(), datetime.now(UTC) - timedelta(seconds=count)
    for number in range(1, count):
        began = first + timedelta(seconds=number)
        time, ended = began.strftime(_MS)[:17], (began + timedelta(milliseconds=500)).strftime(_MS)[:17]
        (timeline / f"{time}.commit.requested").touch()
        (timeline / f"{time}.inflight").touch()
        (timeline / f"{time}_{ended}.commit").write_bytes(body)


def _row(key: str) -> pa.Table:
    return pa.table({"id": [key], "part": ["00000"], "ts": [2], "value": [2.0]}, schema=SCHEMA)


def looks(folder: Path) -> str:
    """Three looks, as one line."""
    store = SnapshotStore.open(str(folder / "store.db"), make=True)
    entry, clock = Table(name="wide", base_path=str(folder / "table")), SystemClock()
    timings = []
    for step in ("first", "a commit more", "quiet"):
        if step == "a commit more":
            HoodieTable.open(entry.base_path).write(_row("new"), "insert", _ALONE)
        start = time.perf_counter()
        look(entry, store, clock)
        timings.append(f"{step} {time.perf_counter() - start:.2f} s")
    snapshot = store.table("wide")
    assert snapshot is not None
    health, size = snapshot.summary.health, len(json.dumps(snapshot.body))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    files, instants = snapshot.summary.files, snapshot.summary.instants
    return (
        f"{files:,} files, {instants:,} instants, {health}: looks {', '.join(timings)}; "
        f"kept {size_of(size)}; peak of memory {peak:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--instants", type=int, default=50_000)
    parser.add_argument("--look", type=Path, help="a folder that was made: look at its table")
    args = parser.parse_args()
    if args.look is not None:
        print(looks(args.look))
        return
    for fill, count in ((with_files, args.files), (with_instants, args.instants)):
        folder = Path(tempfile.mkdtemp())
        try:
            fill(folder / "table", count)
            command = [sys.executable, "-m", "benchmarks.watcher_look", "--look", str(folder)]
            subprocess.run(command, check=True, cwd=ROOT)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()

"""A day of cycles of a server: does anything grow with their number?

`python -m benchmarks.database_day --cycles 300` starts a server of its own (mariadbd is needed) with some tables whose rows
change before each cycle, and some that never change. For each sixth of the cycles it prints the median seconds of a cycle and its
processor seconds, the most files of data and instants, and the cuts. They are to stay level. Rows stay as many.

Then it goes through the rules of archival on paper, for the 8,640 cycles of a day, one each 10 seconds, and compares the commits
with those of the run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.snapshot import SERVER
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.config.keys.archive import MAX_COMMITS, MIN_COMMITS
from hoodie.engine import LocalEngine
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.mariadb import MariaDB

OPTIONS = {"hoodie.table.type": "COPY_ON_WRITE", "hoodie.clean.automatic": "true"}
DAY = 8_640
PARTS = 6
GROWTH = 1.2  # the last part against the second: the first one fills the timelines
_CHANGES = (
    "BEGIN",
    "INSERT INTO bench.t{table} SELECT seq, {turn}, REPEAT('n', 100) FROM bench.seq_{first}_to_{last}",
    "UPDATE bench.t{table} SET k = k + 1 WHERE id BETWEEN {first} - 500 AND {first} - 450",
    "DELETE FROM bench.t{table} WHERE id <= {last} - {rows}",
    "COMMIT",
)


@dataclass(frozen=True)
class Part:
    """Medians of seconds and processor seconds of cycles, the most files and instants after one of them, and the cuts."""

    cycles: int
    seconds: float
    processor: float
    files: int
    instants: int
    cuts: int

    def is_level(self, before: Part) -> bool:
        """Nothing but the seconds of other programs has grown since an earlier part."""
        pairs = ((self.processor, before.processor), (self.files, before.files), (self.instants, before.instants))
        return all(now <= then * GROWTH for now, then in pairs)


def commits_on_timeline(cycles: int) -> Iterator[int]:
    """Yield how many commits a table has on its timeline after each cycle: above the most, an archival leaves the least."""
    least, most = MIN_COMMITS.default or 0, MAX_COMMITS.default or 0
    length = 1  # the snapshot
    for _ in range(cycles):
        length = length + 1 if length < most else least
        yield length


def _cycle(server: MariaDB, sync: ServerSync, args: argparse.Namespace, turn: int) -> tuple[float, float]:
    first = args.rows + 1 + 50 * turn
    for table in range(args.busy):
        server.run(
            *(text.format(table=table, turn=turn, first=first, last=first + 49, rows=args.rows) for text in _CHANGES)
        )
    start, processor = time.monotonic(), time.process_time()
    result = sync.run()
    assert all(table.state == "current" for table in result.tables.values()), result
    return time.monotonic() - start, time.process_time() - processor


def _totals(folder: Path, tables: int) -> tuple[int, int]:
    """How many files of data and how many instants the tables have."""
    lake = [folder / f"t{table}" for table in range(tables)]
    files = sum(1 for path in lake for file in path.rglob("*.parquet") if ".hoodie" not in file.parts)
    return files, sum(len(list(HoodieTable.open(path).timeline)) for path in lake)


def _part(cycles: int, rounds: list[tuple[float, float, int, int]], folder: Path) -> Part:
    seconds, processor, files, instants = zip(*rounds, strict=True)
    cuts = sum(1 for file in (folder / "state").rglob("*") if file.is_file())
    part = Part(cycles, median(seconds), median(processor), max(files), max(instants), cuts)
    print(
        f"| {cycles} | {part.seconds:.3f} | {part.processor:.3f} | {part.files} | {part.instants} | {cuts} |",
        flush=True,
    )
    return part


def _run(server: MariaDB, folder: Path, args: argparse.Namespace) -> int:
    server.run("CREATE DATABASE bench")
    tables = args.busy + args.idle
    for table in range(tables):
        server.run(
            f"CREATE TABLE bench.t{table} (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL)",
            f"INSERT INTO bench.t{table} SELECT seq, 0, REPEAT('c', 100) FROM bench.seq_1_to_{args.rows}",
        )
    sources = [TableSource("bench", "bench", f"t{table}") for table in range(tables)]
    targets = [TargetTable(source, str(folder / source.name), OPTIONS, LocalEngine(2)) for source in sources]
    cuts = CutStore(open_storage(str(folder / "state")), "bench")
    sync = ServerSync("bench", SERVER, {"AIRFLOW_CONN_BENCH": server.url}, targets, cuts, SystemClock())
    sync.run()
    print(
        "| cycles | a cycle, s | processor s | files | instants | cuts |\n|---:|---:|---:|---:|---:|---:|", flush=True
    )
    parts, rounds, others = [], [], 0
    for turn, expected in enumerate(commits_on_timeline(args.cycles)):
        rounds.append((*_cycle(server, sync, args, turn), *_totals(folder, tables)))
        others += len(HoodieTable.open(folder / "t0").timeline.commits) != expected
        if (turn + 1) % (args.cycles // PARTS) == 0:
            parts.append(_part(turn + 1, rounds, folder))
            rounds = []
    level = parts[-1].is_level(parts[1])
    print("level" if level else f"not level: the last part has more than {GROWTH} times of the second")
    lengths = list(commits_on_timeline(DAY))
    print(f"on paper: {DAY:,} cycles, commits on a timeline from {min(lengths[40:])} to {max(lengths)}")
    print(f"other commits than on paper after {others:,} of {args.cycles:,} cycles")
    return int(not level or others > 0)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.database_day", description=__doc__)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--busy", type=int, default=3, help="tables that change before each cycle")
    parser.add_argument("--idle", type=int, default=3, help="tables that never change")
    parser.add_argument("--rows", type=int, default=1000, help="of a table")
    args = parser.parse_args()
    server, folder = MariaDB(), Path(tempfile.mkdtemp(prefix="bench-day-"))
    try:
        return _run(server, folder, args)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

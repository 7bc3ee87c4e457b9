"""Archives a long timeline: seconds, peak memory, and the longest time for which the lock was held.

python -m benchmarks.backlog --instants 50000 --version 9
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from hoodie import ARCHIVE, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.model.commit import CommitMetadata
from hoodie.services.archive import execute
from hoodie.transaction.locks import table_lock as real_table_lock

_LIMIT = 500  # MiB of memory that a run may take


def main() -> int:
    """Exit code 1 when the run took more memory than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instants", type=int, default=50_000)
    parser.add_argument("--version", default="9", choices=("6", "9"))
    parser.add_argument("--stats", type=int, default=20, help="files that each commit names")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = _table(folder, args.version, args.instants, args.stats)
        lock_seconds: list[float] = []
        start = time.monotonic()
        with mock.patch.object(execute, "table_lock", _timed(lock_seconds)):
            archival = HoodieTable.open(path, engine=LocalEngine(4)).run(ARCHIVE)
        seconds = time.monotonic() - start
        table = HoodieTable.open(path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        result = {
            "version": args.version,
            "archived": archival.instants,
            "in_archive": len(table.state().archive.instants()),
            "left": len(table.timeline.commits),
            "seconds": round(seconds, 1),
            "peak_mb": peak,
            "locks": len(lock_seconds),
            "longest_lock_s": round(max(lock_seconds), 2),
        }
        print(json.dumps(result))
        assert result["in_archive"] == archival.instants == args.instants + 1 - len(table.timeline.commits)
    return 0 if peak < _LIMIT else 1


def _table(folder: str, version: str, instants: int, stats: int) -> str:
    """A table with one commit, and `instants` copies of its files, each of which names `stats` files."""
    options = {
        "hoodie.table.name": "backlog",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.write.table.version": version,
    }
    table = HoodieTable.create(f"{folder}/t", options)
    table.write(pa.table({"id": ["a"]}))
    state = table.state()
    [commit] = state.timeline.commits
    metadata = state.commit_metadata(commit)
    body = state.layout.encode_commit(_with_stats(metadata, stats), replace=False)
    moment = datetime.strptime(commit.time[:14], "%Y%m%d%H%M%S")
    place = Path(table.base_path, state.layout.folder)
    for number in range(1, instants + 1):
        text = (moment + timedelta(seconds=number)).strftime("%Y%m%d%H%M%S")
        file_name = f"{text}000_{text}500.commit" if version == "9" else f"{text}000.commit"
        (place / f"{text}000.commit.requested").write_bytes(b"")
        (place / f"{text}000.inflight").write_bytes(b"")
        (place / file_name).write_bytes(body)
    return table.base_path


def _with_stats(metadata: CommitMetadata, count: int) -> CommitMetadata:
    return replace(metadata, stats=metadata.stats * count)


def _timed(lock_seconds: list[float]) -> Callable[..., AbstractContextManager[None]]:
    @contextmanager
    def table_lock(*arguments: Any) -> Iterator[None]:
        with real_table_lock(*arguments):  # the real one
            start = time.monotonic()
            yield
            lock_seconds.append(time.monotonic() - start)

    return table_lock


if __name__ == "__main__":
    sys.exit(main())

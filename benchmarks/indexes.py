"""An upsert with each index: 12 % of a table of trips (240,000 rows into 2,000,000), on threads, copy on write and merge on read.

A bulk insert by the same index makes the table. The log of the write has the cost of the index itself.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import time

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.shapes import TRIPS
from benchmarks.steps import writes
from benchmarks.trip_data import make_trips
from hoodie import HoodieTable
from hoodie.engine import LocalEngine

_INDEXES: dict[str, dict[str, object]] = {
    "SIMPLE": {},
    "BLOOM": {},
    "BUCKET": {"hoodie.bucket.index.num.buckets": 4},
    "GLOBAL_SIMPLE": {},
    "GLOBAL_BLOOM": {},
}


def report(options: argparse.Namespace) -> int:
    """Print a line for each index and table type."""
    logging.basicConfig(level=logging.WARNING, format="  %(message)s")
    logging.getLogger("hoodie.write.pipeline").setLevel(logging.INFO)
    rows = options.rows or 2_000_000
    source = options.folder / f"trips-{rows}"
    make_trips(source, rows)
    (base, _), (changes, operation), *_ = writes(str(source), TRIPS)
    engine = LocalEngine(options.cores)
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        for index, more in _INDEXES.items():
            target, chosen = options.folder / "indexes", {"hoodie.index.type": index, **more}
            shutil.rmtree(target, ignore_errors=True)
            table = HoodieTable.create(str(target), TRIPS.options(kind), engine=engine)
            seconds = []
            for paths, name in ((base, "bulk_insert"), (changes, operation)):
                trips = pa.concat_tables([pq.read_table(path) for path in paths])
                start = time.perf_counter()
                table.write(trips, name, chosen)
                seconds.append(time.perf_counter() - start)
            print(f"{kind} {index}: bulk insert {seconds[0]:.2f} s, upsert {seconds[1]:.2f} s", flush=True)
    shutil.rmtree(options.folder / "indexes", ignore_errors=True)
    return 0

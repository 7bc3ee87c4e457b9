"""Verify, repair and resync of a MariaDB table of ten columns, loaded into a Hudi table.

`python -m benchmarks.verify --rows 1000000 --damaged 1000` starts a server of its own (mariadbd has to be there) and prints the
wall time, the processor time of this process and of the server, and the peak of memory of this process.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.snapshot import ROWS, SERVER, TABLE, measured
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.mariadb import MariaDB


def _damage(base_path: str, rows: int, count: int) -> None:
    """Change the status of some rows, spread over all keys."""
    table = HoodieTable.open(base_path, engine=LocalEngine(2))
    keys = pa.array(range(1, rows, max(1, rows // count)), pa.int64())
    damaged = table.read().filter(pc.is_in(pc.field("id"), value_set=keys))
    place = damaged.schema.get_field_index("status")
    table.write(damaged.set_column(place, "status", pa.array(["damaged"] * damaged.num_rows)), "upsert")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--damaged", type=int, default=1_000)
    args = parser.parse_args()
    server = MariaDB({"innodb-buffer-pool-size": "1G"})
    folder = Path(tempfile.mkdtemp(prefix="bench-verify-"))
    try:
        server.run("CREATE DATABASE bench", TABLE, ROWS.format(rows=args.rows), "ANALYZE TABLE bench.t")
        target = TargetTable(TableSource("bench", "bench", "t"), str(folder / "lake"), {}, LocalEngine(2))
        load = TableLoad(SERVER, {"AIRFLOW_CONN_BENCH": server.url}, target)
        check = EqualityCheck(load)
        measured("load", server, lambda: load.run().rows)
        measured("verify, equal", server, lambda: check.verify().rows)
        _damage(target.base_path, args.rows, args.damaged)
        measured(f"verify, {args.damaged:,} differ", server, lambda: check.verify().rows)
        measured("repair", server, lambda: check.verify(repair=True).rows)
        measured("resync, equal", server, lambda: check.resync().rows)
        _damage(target.base_path, args.rows, args.damaged)
        measured(f"resync, {args.damaged:,} differ", server, lambda: check.resync().rows)
        print(f"peak of memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

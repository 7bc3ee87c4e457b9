"""Registration of the tables of a database load in a Hive metastore: new ones, the same ones again, and after a commit to some.

`python -m benchmarks.registration --tables 1100 --touched 101` copies one table, and registers the copies in a metastore inside
this process, which keeps all in memory. Its time counts, and a real one may take longer to answer. Prints wall and processor
time of each run.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from hoodie.sql import connect
from hoodie.sql.hive import HiveCatalog
from hudi_services.sql.registration import register_tables
from hudi_services.sql.server_catalog import LakeCatalog
from tests.support.metastore import MemoryMetastore

_CREATE = "CREATE TABLE t USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{path}' AS SELECT 1 AS id, 'a' AS v"


def _measured(name: str, lake: LakeCatalog, paths: list[str]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    failures = register_tables(lake, paths)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    per_table = f"{1000 * wall / len(paths):.1f} ms a table"
    print(
        f"{name:28} {wall:7.2f} s, {processor:7.2f} s of processor, {per_table}, {len(failures):,} failures", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1100)
    parser.add_argument("--touched", type=int, default=101)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-registration-"))
    metastore = MemoryMetastore(folder)
    catalog = HiveCatalog(metastore.uri, warehouse=str(folder / "lake"))
    try:
        catalog.create_database("shop")
        database = folder / "lake/shop.db"
        with connect(folder / "session") as session:
            session.sql(_CREATE.format(path=database / "t0"))
            for number in range(1, args.tables):
                shutil.copytree(database / "t0", database / f"t{number}")
            paths = [str(database / f"t{number}") for number in range(args.tables)]
            lake = LakeCatalog(catalog, str(folder / "lake"))
            _measured(f"{args.tables:,} new tables", lake, paths)
            _measured("no changes", lake, paths)
            for number in range(args.touched):
                session.sql(f"CREATE TABLE s{number} USING hudi LOCATION '{paths[number]}'")
                session.sql(f"INSERT INTO s{number} VALUES (2, 'b')")
            _measured(f"{args.touched:,} tables changed", lake, paths)
    finally:
        catalog.close()
        metastore.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

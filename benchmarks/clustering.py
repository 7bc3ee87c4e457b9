"""How much of a sorted table a filter of two columns reads: `python -m benchmarks.clustering --rows 2000000 --layout z-order`."""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie import CLUSTERING, HoodieTable
from hoodie.formats.row_groups import matching_row_groups

_FILES = 8
_RANGE = 1_000_000
_TENTH = _RANGE // 10


def main() -> None:
    """Prints bytes of row groups that the filter keeps, before and after, and the seconds that the clustering took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--layout", choices=["linear", "z-order", "hilbert"], default="z-order")
    parser.add_argument("--method", choices=["direct", "sample"], default="direct")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hoodie-clustering-") as folder:
        table = _new_table(f"{folder}/t", args.rows)
        print(f"before: {_read(table)}")
        order = {
            "hoodie.clustering.plan.strategy.sort.columns": "a,b",
            "hoodie.layout.optimize.strategy": args.layout,
            "hoodie.layout.optimize.curve.build.method": args.method,
        }
        table.schedule(CLUSTERING, order, force=True)
        start = time.monotonic()
        table.run(CLUSTERING)
        print(f"clustered in {time.monotonic() - start:.1f} s")
        print(f"after {args.layout} ({args.method}): {_read(table)}")


def _new_table(path: str, rows: int) -> HoodieTable:
    table = HoodieTable.create(path, {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"})
    random, share = np.random.default_rng(1), rows // _FILES
    for file in range(_FILES):
        keys = np.char.add("k", np.arange(file * share, (file + 1) * share).astype(str))
        values = {name: random.integers(0, _RANGE, share) for name in "abc"}
        table.write(pa.table({"id": pa.array(keys), **values, "v": random.random(share)}), "bulk_insert")
    return table


def _read(table: HoodieTable) -> str:
    """A tenth of the values of each of two columns, which is a hundredth of the rows."""
    low, high = 3 * _TENTH, 5 * _TENTH
    condition = (pc.field("a") >= low) & (pc.field("a") < low + _TENTH)
    condition &= (pc.field("b") >= high) & (pc.field("b") < high + _TENTH)
    total = matching = 0
    for file_slice in table.file_slices():
        assert file_slice.base_file is not None, "a bulk insert writes base files"
        with table.storage.open_input(file_slice.base_file.path) as source:
            file = pq.ParquetFile(source)
            sizes = [_bytes(file.metadata.row_group(number)) for number in range(file.num_row_groups)]
            row_groups = matching_row_groups(source, file.schema_arrow, condition, table.schema)
        total += sum(sizes)
        matching += sum(sizes if row_groups is None else [sizes[number] for number in row_groups])
    rows = table.read(filter=condition).num_rows
    return f"{matching:,} of {total:,} bytes, {100 * matching / total:.1f} %, for {rows:,} rows"


def _bytes(row_group: pq.RowGroupMetaData) -> int:
    return sum(row_group.column(number).total_compressed_size for number in range(row_group.num_columns))


if __name__ == "__main__":
    main()

"""Plain Parquet tables, as a bootstrap takes them over."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

TABLE = {
    "hoodie.table.name": "trips",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.datasource.write.hive_style_partitioning": "true",
}
SMALL = {"hoodie.index.bloom.num_entries": 100, "hoodie.bloom.index.filter.dynamic.max.entries": 200}


def put(root, path, ids, ts=1, part=None, schema=None, **write):
    """A file of (id, ts, value) rows; with `part` as a column of its own."""
    columns = {
        "id": pa.array(ids, pa.string()),
        "ts": pa.array([ts] * len(ids), pa.int64()),
        "value": pa.array(range(len(ids)), pa.int64()),
    }
    if part is not None:
        columns["part"] = pa.array([part] * len(ids), pa.string())
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = pa.table(columns)
    pq.write_table(rows if schema is None else rows.cast(schema), target, **write)


def hive_source(root):
    """Two partitions, three files, Spark's by-products."""
    put(root, "part=p1/000000_0", ["a", "b", "c"])
    put(root, "part=p1/part-1.snappy.parquet", ["d"], compression="snappy")
    put(root, "part=p2/part-0.parquet", ["a", "e", "f", "g", "h"], row_group_size=2)
    (root / "_SUCCESS").write_bytes(b"")
    (root / "part=p1" / ".part-1.snappy.parquet.crc").write_bytes(b"crc")
    return root


def contents(root):
    """Path -> bytes and time of every file: to see that nothing was touched."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(root.rglob("*")) if path.is_file()}

"""Small tables to write."""

from __future__ import annotations

import pyarrow as pa

from hoodie import HoodieTable
from hoodie.engine import LocalEngine

OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.datasource.write.hive_style_partitioning": "true",
}
SMALL_BLOOM = {"hoodie.index.bloom.num_entries": 100, "hoodie.bloom.index.filter.dynamic.max.entries": 200}


def batch(entries):
    """Rows of (id, part, ts, value)."""
    ids, parts, ts, values = zip(*entries, strict=True) if entries else ((), (), (), ())
    return pa.table(
        {
            "id": pa.array(ids, pa.string()),
            "part": pa.array(parts, pa.string()),
            "ts": pa.array(ts, pa.int64()),
            "value": pa.array(values, pa.int64()),
        }
    )


def create(path, clock=None, engine=None, **options):
    return HoodieTable.create(
        path if hasattr(path, "base_path") else str(path),
        {**OPTIONS, **options},
        clock=clock,
        engine=engine or LocalEngine(2),
    )


def content(table, **read):
    """id -> (part, ts, value)"""
    rows = table.read(**read).to_pylist()
    found = {row["id"]: (row["part"], row["ts"], row["value"]) for row in rows}
    assert len(found) == len(rows), "a key stands more than once"
    return found

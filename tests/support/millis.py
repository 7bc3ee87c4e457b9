"""A table as Hudi before 1.1 wrote it: its schema says milliseconds, its files label the same numbers as microseconds."""

from __future__ import annotations

import pyarrow as pa

from hoodie import HoodieTable
from hoodie.engine import LocalEngine

STAMPS = (1_700_000_000_123, 1_700_000_001_456, -1)  # milliseconds since 1970, of the rows k0, k1 and k2
_LABEL = pa.timestamp("us", "UTC")


def labelled(ids, stamps):
    """Rows whose numbers are milliseconds below the label of microseconds, alone and in a struct, a list and a map."""
    moments = pa.array(stamps, pa.int64()).cast(_LABEL)
    ones = pa.array(range(len(ids) + 1), pa.int32())
    return pa.table(
        {
            "id": pa.array(ids),
            "at": moments,
            "s": pa.StructArray.from_arrays([moments, pa.array(ids)], ["at", "t"]),
            "l": pa.ListArray.from_arrays(ones, moments),
            "m": pa.MapArray.from_arrays(ones, pa.array(["k"] * len(ids)), moments),
            "micros": pa.array(stamps, pa.int64()).cast(_LABEL),
        }
    )


def mislabelled_table(path, kind, columns=("id", "at", "s", "l", "m", "micros")):
    """A table of version 6 with three rows, k2 of them in a log where the table is merge on read. Column `micros` is right."""
    settings = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", "hoodie.write.table.version": "6"}
    table = HoodieTable.create(str(path), {**settings, "hoodie.table.type": kind}, engine=LocalEngine(1))
    table.write(labelled(["k0", "k1", "k2"], [*STAMPS[:2], 7]).select(columns))
    table.write(labelled(["k2"], STAMPS[2:]).select(columns))
    for commit in [*path.glob(".hoodie/*.commit"), *path.glob(".hoodie/*.deltacommit")]:
        text = commit.read_text()
        before, after = text.split('\\"micros\\"')
        commit.write_text(before.replace("timestamp-micros", "timestamp-millis") + '\\"micros\\"' + after)
    return HoodieTable.open(str(path), engine=LocalEngine(1))


def numbers(rows):
    """id -> milliseconds of the column, the struct, the list and the map."""
    parts = (rows["at"], rows["s"].combine_chunks().field("at"), rows["l"].combine_chunks().values)
    moments = [part.cast(pa.timestamp("ms", "UTC")) for part in (*parts, rows["m"].combine_chunks().items)]
    columns = [moment.cast(pa.int64()).to_pylist() for moment in moments]
    return dict(zip(rows["id"].to_pylist(), zip(*columns, strict=True), strict=True))

"""The query that is timed, of an Arrow table."""

from __future__ import annotations

import pyarrow as pa

from benchmarks.shapes import Shape


def by_partition_of(rows: pa.Table, shape: Shape) -> list[list[object]]:
    """`steps.by_partition` of an Arrow table."""
    aggregates = [*((name, "sum") for name in shape.sums), (shape.key[0], "count")]
    groups = rows.group_by(shape.partition).aggregate(aggregates).sort_by(shape.partition)
    return [
        [row[shape.partition], *(round(row[f"{name}_sum"], 2) for name in shape.sums), row[f"{shape.key[0]}_count"]]
        for row in groups.to_pylist()
    ]

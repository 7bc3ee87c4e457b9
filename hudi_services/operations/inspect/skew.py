"""The skew of a table's partitions: how unequal they are, and how many hold hardly a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import Any, TypeVar

from hoodie.model.files import FileSlice
from hudi_services.operations.inspect.counts import RowCounts
from hudi_services.operations.inspect.table_look import Look

K = TypeVar("K")
FEW_ROWS = 10
"""Rows of a partition that are few."""


def partition_skew(look: Look, counts: RowCounts | None) -> Mapping[str, Any] | None:
    """Sizes of partitions with logs, in bytes, and how many have few rows; None for a table without partitions or files. Without
    `counts` no partition is known to have few."""
    by_partition: dict[str, list[FileSlice]] = defaultdict(list)
    for file_slice in look.view.slices:
        by_partition[file_slice.partition].append(file_slice)
    if not look.state.properties.partition_fields or not by_partition:
        return None
    sizes = {path: sum(file_slice.size for file_slice in slices) for path, slices in by_partition.items()}
    rows = [_rows(counts, slices) for slices in by_partition.values()] if counts is not None else []
    largest, median_bytes = largest_and_median(sizes)
    return {
        "partitions": len(sizes),
        "bytes": sum(sizes.values()),
        "largest": largest,
        "largest_bytes": sizes[largest],
        "median_bytes": median_bytes,
        "few_rows": sum(1 for number in rows if number <= FEW_ROWS),
    }


def largest_and_median(sizes: Mapping[K, int]) -> tuple[K, int]:
    """The key of the largest size, and the median size, in whole bytes."""
    return max(sizes, key=lambda key: sizes[key]), int(median(sizes.values()))


def _rows(counts: RowCounts, slices: list[FileSlice]) -> int:
    """The most rows that the partition can have: those of logs may be other versions of rows in base files."""
    of_partition = counts.of(slices)
    return of_partition["rows"] + of_partition["log_rows"]

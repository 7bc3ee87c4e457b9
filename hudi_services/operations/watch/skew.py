"""The skew of a table: how unequal its partitions and its base files are in size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from hudi_services.operations.inspect.table_look import Look


def skew(look: Look, partitions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The sizes of `partitions`, with logs, and of base files, in bytes; empty where there are no files."""
    sizes = {str(partition["partition"]): int(partition["bytes"]) for partition in partitions if partition["bytes"]}
    files = [file_slice.base_file.size for file_slice in look.view.slices if file_slice.base_file is not None]
    result: dict[str, Any] = {}
    if sizes:
        largest = max(sizes, key=lambda path: sizes[path])
        result["partitions"] = {**_sizes(list(sizes.values())), "path": largest}
    if files:
        result["files"] = {**_sizes(files), "path": ""}
    return result


def _sizes(sizes: Sequence[int]) -> dict[str, Any]:
    total = sum(sizes)
    return {
        "count": len(sizes),
        "largest": max(sizes),
        "median": int(median(sizes)),
        "smallest": min(sizes),
        "share": max(sizes) / total if total else 0.0,
    }

"""The skew of a table: how unequal its partitions and its base files are in size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hudi_services.operations.inspect.skew import largest_and_median
from hudi_services.operations.inspect.table_look import Look


def skew(look: Look, partitions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The sizes of `partitions`, with logs, and of base files, in bytes; empty where there are no files."""
    sizes = {str(partition["partition"]): int(partition["bytes"]) for partition in partitions if partition["bytes"]}
    files = [file_slice.base_file.size for file_slice in look.view.slices if file_slice.base_file is not None]
    result: dict[str, Any] = {}
    if sizes:
        result["partitions"] = _sizes(sizes)
    if files:
        result["files"] = {**_sizes(dict(enumerate(files))), "path": ""}
    return result


def _sizes(sizes: Mapping[Any, int]) -> dict[str, Any]:
    largest, median = largest_and_median(sizes)
    total = sum(sizes.values())
    return {
        "count": len(sizes),
        "path": largest,
        "largest": sizes[largest],
        "median": median,
        "smallest": min(sizes.values()),
        "share": sizes[largest] / total if total else 0.0,
    }

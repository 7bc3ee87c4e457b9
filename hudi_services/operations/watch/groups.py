"""The file groups of a table that want a service most: what a page can show of a hundred thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nlargest
from typing import Any

from hoodie.model.files import FileGroup, FileSlice
from hudi_services.operations.inspect.table_look import Look

_MOST = 100  # file groups of each kind


def groups(look: Look) -> tuple[list[dict[str, Any]], int]:
    """A hundred file groups of each kind: those with the most bytes in logs, in older slices, and with the smallest
    base files; by path. Also the number of those that are left out. Nothing is listed that the look has not listed."""
    newest = {file_slice.group: file_slice for file_slice in look.view.slices}
    current = [(group, newest[group.group]) for group in look.view.groups if group.group in newest]
    rows = [_row(group, file_slice) for group, file_slice in current]
    chosen = {id(row): row for worth in (_logs, _older, _small) for row in _best(rows, worth)}
    ordered = sorted(chosen.values(), key=lambda row: (row["partition"], row["file_group"]))
    return ordered, len(rows) - len(ordered)


def _best(rows: Iterable[dict[str, Any]], worth: Callable[[dict[str, Any]], float | None]) -> list[dict[str, Any]]:
    return nlargest(_MOST, (row for row in rows if worth(row) is not None), key=lambda row: worth(row) or 0)


def _logs(row: dict[str, Any]) -> float | None:
    return row["log_bytes"] or None


def _older(row: dict[str, Any]) -> float | None:
    return row["older_bytes"] or None


def _small(row: dict[str, Any]) -> float | None:
    return -row["base_bytes"] if row["base_bytes"] is not None else None


def _row(group: FileGroup, newest: FileSlice) -> dict[str, Any]:
    """`older_bytes` are those of its older committed slices."""
    return {
        "partition": newest.partition,
        "file_group": newest.file_id,
        "since": str(newest.base_instant),
        "slices": len(group.slices),
        "base_bytes": newest.base_file.size if newest.base_file is not None else None,
        "log_files": len(newest.log_files),
        "log_bytes": sum(log.info.size for log in newest.log_files),
        "older_bytes": sum(file_slice.size for file_slice in group.slices) - newest.size,
    }

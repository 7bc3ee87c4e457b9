"""The contents of a table: partitions, file slices, files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from hoodie.model.files import BaseFile, FileSlice
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.page import Column, Listing, Page
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, partition, size

_PARTITION = Column("partition", "partition", partition)
_ROWS = (
    Column("rows", "rows in base files", count, right=True),
    Column("log_rows", "in logs", count, right=True, rank=2),
    Column("log_deletions", "deletions in logs", count, right=True, rank=3),
)
_PARTITIONS = (
    _PARTITION,
    Column("file_groups", "file groups", count, right=True),
    *_ROWS,
    Column("bytes", "size", size, right=True),
    Column("log_files", "logs", count, right=True, rank=2),
    Column("log_bytes", "size of logs", size, right=True, rank=2),
    Column("older_bytes", "older versions", size, right=True, rank=3),
    Column("last_instant", "last written", rank=2),
)
_SLICES = (
    _PARTITION,
    Column("file_group", "file group", rank=0),
    Column("base_instant", "since", rank=4),
    *_ROWS,
    Column("base_bytes", "base file", size, right=True),
    Column("log_files", "logs", count, right=True, rank=2),
    Column("log_bytes", "size of logs", size, right=True, rank=2),
    Column("current", "current", lambda current: "yes" if current else "no", rank=2),
)
_FILES = (
    Column("kind", "kind"),
    Column("instant", "instant"),
    Column("bytes", "size", size, right=True),
    Column("path", "path", rank=0),
)


def partitions(look: Look) -> Page:
    """Each partition with what is current in it; `rows` are those of base files, over which logs lay theirs and deletions."""
    counts = row_counts(look, look.view.slices)
    current, all_bytes = _by_partition(look.view.slices), defaultdict[str, int](int)
    for files in look.view.files:
        all_bytes[files.partition] = sum(each.size for each in files.base_files)
        all_bytes[files.partition] += sum(log.info.size for log in files.log_files)
    lines = []
    for path in sorted(all_bytes):
        slices = current.get(path, [])
        used = sum(each.size for each in slices)
        lines.append(
            {
                "partition": path,
                "file_groups": len(slices),
                **counts.of(slices),
                "bytes": used,
                "log_files": sum(len(each.log_files) for each in slices),
                "log_bytes": sum(_log_bytes(each) for each in slices),
                "older_bytes": all_bytes[path] - used,
                "last_instant": max((_last(each) for each in slices), default=None),
            }
        )
    return Page({"table": look.state.properties.name, "partitions": lines}, [Listing(_PARTITIONS, lines, empty="none")])


def slices(look: Look, within: str | None, *, everything: bool) -> Page:
    """The file slices: the newest of each group, or all that are there."""
    view = look.view_of(within)
    latest = {(each.group, each.base_instant) for each in view.slices}
    found = [each for group in view.groups for each in group.slices] if everything else list(view.slices)
    counts = row_counts(look, found)
    lines = [
        {
            "partition": each.partition,
            "file_group": each.file_id,
            "base_instant": str(each.base_instant),
            **counts.of([each]),
            "base_file": each.base_file.path if each.base_file is not None else None,
            "base_bytes": each.base_file.size if each.base_file is not None else None,
            "log_files": len(each.log_files),
            "log_bytes": _log_bytes(each),
            "current": (each.group, each.base_instant) in latest,
        }
        for each in found
    ]
    return Page({"table": look.state.properties.name, "slices": lines}, [Listing(_SLICES, lines, empty="none")])


def files(look: Look, within: str | None) -> Page:
    """The data files that make up the table now."""
    lines: list[dict[str, Any]] = []
    for each in look.view_of(within).slices:
        for file in each.files:
            base = isinstance(file, BaseFile)
            lines.append(
                {
                    "kind": "base" if base else "log",
                    "path": file.path,
                    "partition": file.partition,
                    "file_group": file.file_id,
                    "instant": str(file.instant if isinstance(file, BaseFile) else file.time),
                    "bytes": file.info.size,
                }
            )
    return Page({"table": look.state.properties.name, "files": lines}, [Listing(_FILES, lines, empty="none")])


def _by_partition(found: Iterable[FileSlice]) -> dict[str, list[FileSlice]]:
    by: dict[str, list[FileSlice]] = {}
    for each in found:
        by.setdefault(each.partition, []).append(each)
    return by


def _log_bytes(each: FileSlice) -> int:
    return sum(log.info.size for log in each.log_files)


def _last(each: FileSlice) -> str:
    return (
        str(max(each.base_instant, *(log.time for log in each.log_files))) if each.log_files else str(each.base_instant)
    )

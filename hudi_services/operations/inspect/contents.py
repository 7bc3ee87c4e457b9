"""The contents of a table: partitions, file slices, files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from hoodie.errors import HoodieError
from hoodie.model.files import BaseFile, FileSlice, instant_of
from hoodie.model.names import EXTERNAL
from hoodie.view import TableView
from hoodie.view.missing_files import ExpectedFile, absent_files
from hudi_services.operations.inspect.counts import row_counts
from hudi_services.operations.inspect.page import Column, Lines, Listing, Page
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
    Column("missing", "missing", lambda paths: count(len(paths)) if paths else "", right=True),
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
    Column("missing", "missing", lambda paths: count(len(paths)) if paths else "", right=True),
)
_FILES = (
    Column("kind", "kind"),
    Column("instant", "instant"),
    Column("bytes", "size", size, right=True),
    Column("missing", "missing", lambda missing: "missing" if missing else ""),
    Column("path", "path", rank=0),
)


def partitions(look: Look) -> Page:
    """Each partition with what is current in it, and the files that it lacks; `rows` are those of base files, over which logs lay
    theirs and deletions."""
    counts = row_counts(look, look.view.slices)
    current, all_bytes = _by_partition(look.view.slices), defaultdict[str, int](int)
    for files in look.view.files:
        all_bytes[files.partition] = sum(base_file.size for base_file in files.base_files)
        all_bytes[files.partition] += sum(log.info.size for log in files.log_files)
    problems, lines = _problems(look.view), []
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for file in _missing(look.view) if problems else ():
        missing[file.partition].append(file.path)
    for path in sorted({*all_bytes, *missing}):
        slices = current.get(path, [])
        used = sum(file_slice.size for file_slice in slices)
        lines.append(
            {
                "partition": path,
                "file_groups": len(slices),
                **counts.of(slices),
                "bytes": used,
                "log_files": sum(len(file_slice.log_files) for file_slice in slices),
                "log_bytes": sum(_log_bytes(file_slice) for file_slice in slices),
                "older_bytes": all_bytes[path] - used,
                "last_instant": max((_last(file_slice) for file_slice in slices), default=None),
                "missing": missing.get(path, []),
            }
        )
    return _page(look, "partitions", lines, _PARTITIONS, problems)


def slices(look: Look, within: str | None, *, everything: bool) -> Page:
    """The file slices: the newest of each group, or all that are there. If the newest base file of a group is missing, none of
    its slices is current."""
    view = look.view_of(within)
    missing = _missing(view)
    current = _current(view, missing)
    latest = {(file_slice.group, file_slice.base_instant) for file_slice in current}
    file_slices = [file_slice for group in view.groups for file_slice in group.slices] if everything else current
    counts = row_counts(look, file_slices)
    lines: list[dict[str, Any]] = [
        {
            "partition": file_slice.partition,
            "file_group": file_slice.file_id,
            "base_instant": str(file_slice.base_instant),
            **counts.of([file_slice]),
            "base_file": file_slice.base_file.path if file_slice.base_file is not None else None,
            "base_bytes": file_slice.base_file.size if file_slice.base_file is not None else None,
            "log_files": len(file_slice.log_files),
            "log_bytes": _log_bytes(file_slice),
            "current": (file_slice.group, file_slice.base_instant) in latest,
            "missing": [file.path for file in missing if file.is_log and file.group == file_slice.group],
        }
        for file_slice in file_slices
    ]
    lines += [
        {
            "partition": file.partition,
            "file_group": file.group.file_id,
            "base_instant": str(file.instant.time),
            "rows": None,
            "log_rows": None,
            "log_deletions": None,
            "base_file": file.path,
            "base_bytes": None,
            "log_files": 0,
            "log_bytes": 0,
            "current": True,
            "missing": [file.path],
        }
        for file in missing
        if not file.is_log
    ]
    return _page(look, "slices", lines, _SLICES, _problems(view))


def files(look: Look, within: str | None) -> Page:
    """The data files that make up the table now, those that are missing among them."""
    view = look.view_of(within)
    missing = _missing(view)
    lines: list[dict[str, Any]] = []
    for file_slice in _current(view, missing):
        for file in file_slice.files:
            base = isinstance(file, BaseFile)
            lines.append(
                {
                    "kind": "base" if base else "log",
                    "path": file.path,
                    "partition": file.partition,
                    "file_group": file.file_id,
                    "instant": str(instant_of(file)),
                    "bytes": file.info.size,
                    "missing": False,
                }
            )
    lines += [
        {
            "kind": "log" if file.is_log else "base",
            "path": file.path,
            "partition": file.partition,
            "file_group": file.group.file_id,
            "instant": str(file.instant.time),
            "bytes": None,
            "missing": True,
        }
        for file in missing
    ]
    return _page(look, "files", lines, _FILES, _problems(view))


def _page(
    look: Look, name: str, lines: list[dict[str, Any]], columns: Sequence[Column], problems: Sequence[str]
) -> Page:
    """The lines below the problems of the table."""
    values = {"table": look.state.properties.name, name: lines, "problems": problems}
    alarm = [Lines(problems, "problems", alarming=True)] if problems else []
    return Page(values, [*alarm, Listing(columns, lines, empty="none")], problems)


def _problems(view: TableView) -> list[str]:
    """The error that a read meets: a file that is missing, cut short or replaced."""
    try:
        view.check()
    except HoodieError as error:
        return [str(error)]
    return []


def _missing(view: TableView) -> list[ExpectedFile]:
    """The files that the newest slices lack, and that are not there. Files of other programs have other names here."""
    absent = absent_files(view.state, view.slices, view.partitions)
    own = [file for file in absent if not file.name.endswith(EXTERNAL)]
    return [file for file in own if view.state.storage.info(file.path) is None]


def _current(view: TableView, missing: Iterable[ExpectedFile]) -> list[FileSlice]:
    """The newest slices, but for those of groups whose newest base file is missing: they are older than the table."""
    outdated = {file.group for file in missing if not file.is_log}
    return [file_slice for file_slice in view.slices if file_slice.group not in outdated]


def _by_partition(file_slices: Iterable[FileSlice]) -> dict[str, list[FileSlice]]:
    result: dict[str, list[FileSlice]] = {}
    for file_slice in file_slices:
        result.setdefault(file_slice.partition, []).append(file_slice)
    return result


def _log_bytes(file_slice: FileSlice) -> int:
    return sum(log.info.size for log in file_slice.log_files)


def _last(file_slice: FileSlice) -> str:
    return (
        str(max(file_slice.base_instant, *(log.time for log in file_slice.log_files)))
        if file_slice.log_files
        else str(file_slice.base_instant)
    )

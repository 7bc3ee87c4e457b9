"""Procedures that show the files of a table: slices as readers see them, sizes, files that are damaged."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from hoodie.config.partitions import partition_path
from hoodie.errors import CorruptFileError, SqlError
from hoodie.formats.bootstrap_file import open_file
from hoodie.model.files import FileSlice, LogFile
from hoodie.model.names import BaseFileName
from hoodie.sql.procedures.procedure import (
    FILTER,
    FLAG,
    FLOAT,
    INT,
    LONG,
    TABLE,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.storage import storage_of, walk_files
from hoodie.timeline import Action
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.view import TableView

_ALL = "ALL_PARTITIONS"
_VIEW = (
    *TABLE_OR_PATH,
    Parameter("max_instant", default=""),
    Parameter("include_max", FLAG, default=False),
    Parameter("include_in_flight", FLAG, default=False),
    Parameter("exclude_compaction", FLAG, default=False),
    limit(),
    Parameter("path_regex", default=_ALL),
    FILTER,
)
_SLICE = {
    "partition": TEXT,
    "file_id": TEXT,
    "base_instant": TEXT,
    "data_file": TEXT,
    "data_file_size": LONG,
    "num_delta_files": LONG,
    "total_delta_file_size": LONG,
}
_DIFFERS = (
    "path_regex takes * and ?; include_in_flight and exclude_compaction are refused; logs are paths, the newest first"
)
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")  # steps of 1,024, as Hudi's procedure writes them


def _view(call: Call) -> TableView:
    for name in ("include_in_flight", "exclude_compaction"):
        if call[name]:
            raise SqlError(
                f"{call.procedure.name} shows the files that readers see",
                found=f"{name} => true",
                fix=f"leave {name} out",
            )
    if not call["max_instant"]:
        return TableView(call.state)
    latest = [
        instant.time
        for instant in call.state.timeline.commits
        if instant.time < call["max_instant"] or (call["include_max"] and instant.time == call["max_instant"])
    ]
    if not latest:
        raise SqlError(
            f"There is no commit before {call['max_instant']:.100}", fix="CALL show_commits lists the commits"
        )
    return TableView(call.state, as_of=latest[-1])


def _slices(call: Call, slices: Sequence[FileSlice]) -> Iterator[FileSlice]:
    partition = partition_path(call.arguments.get("partition_path") or _ALL)
    pattern = partition_path(call["path_regex"] or "")
    for file_slice in slices:
        matches = pattern in (_ALL, "") or fnmatchcase(file_slice.partition, pattern)
        if matches and partition in (_ALL, file_slice.partition):
            yield file_slice


def _head(call: Call, file_slice: FileSlice) -> tuple[Any, ...]:
    base, path = file_slice.base_file, call.table.base_path
    logs = sum(log.info.size for log in file_slice.log_files)
    file = f"{path}/{base.path}" if base is not None else ""
    counts = (base.size if base is not None else 0, len(file_slice.log_files), logs)
    return file_slice.partition, file_slice.file_id, str(file_slice.base_instant), file, *counts


def _fsview_all(call: Call) -> Iterator[tuple[Any, ...]]:
    view = _view(call)
    result = [
        file_slice
        for group in view.groups
        for file_slice in group.slices
        if view.as_of is None or file_slice.base_instant <= view.as_of
    ]
    for file_slice in _slices(call, result):
        yield *_head(call, file_slice), _paths(call, file_slice.log_files)


def _fsview_latest(call: Call) -> Iterator[tuple[Any, ...]]:
    view = _view(call)
    for file_slice in _slices(call, view.slices):
        planned = file_slice.group in view.busy.compacting
        size, base = sum(log.info.size for log in file_slice.log_files), file_slice.base_file
        share = size / base.size if base is not None and base.size else 0.0
        files, none = _paths(call, file_slice.log_files), "[]"
        if planned:
            yield *_head(call, file_slice), size, 0, share, 0.0, files, none
        else:
            yield *_head(call, file_slice), 0, size, 0.0, share, none, files


def _paths(call: Call, logs: Sequence[LogFile]) -> str:
    return f"[{', '.join(f'{call.table.base_path}/{log.path}' for log in reversed(logs))}]"


def _sizes(call: Call) -> Iterator[tuple[Any, ...]]:
    by_commit: dict[str, list[int]] = defaultdict(list)
    partition = partition_path(call["partition_path"] or "")
    slices = (file_slice for group in TableView(call.state).groups for file_slice in group.slices)
    for file_slice in slices:
        if not partition or fnmatchcase(file_slice.partition, partition):
            if file_slice.base_file is not None:
                by_commit[str(file_slice.base_file.instant)].append(file_slice.base_file.size)
            for log in file_slice.log_files:
                by_commit[str(log.time)].append(log.info.size)
    for time in sorted(by_commit, reverse=True):
        yield _summary(time, by_commit[time])
    yield _summary("ALL", [size for sizes in by_commit.values() for size in sizes])


def _summary(name: str, sizes: Sequence[int]) -> tuple[Any, ...]:
    if not sizes:
        return name, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0
    ordered = sorted(sizes)
    spread = statistics.stdev(ordered) if len(ordered) > 1 else 0.0
    low, middle, high = (_quantile(ordered, share) for share in (0.1, 0.5, 0.95))
    return name, ordered[0], low, middle, statistics.fmean(ordered), high, ordered[-1], len(ordered), spread


def _quantile(ordered: Sequence[int], share: float) -> float:
    """As Hudi's statistics have it: between the two values around the place `share * (n + 1)`."""
    place = share * (len(ordered) + 1)
    below = math.floor(place)
    if below < 1:
        return float(ordered[0])
    if below >= len(ordered):
        return float(ordered[-1])
    return ordered[below - 1] + (place - below) * (ordered[below] - ordered[below - 1])


def _status(call: Call) -> Iterator[tuple[str, str, str, str, str]]:
    """State of a file: its place, or the instant that deleted it."""
    state, name, within = call.state, call["file"], partition_path(call["partition"] or "")
    path = f"{within}/{name}" if within else name
    if BaseFileName.parse(name) is not None and state.storage.info(path) is not None:
        yield "exist", "", "", "", f"{state.storage.base_path}/{path}"
        return
    for instant in reversed(state.timeline.completed(Action.CLEAN, Action.ROLLBACK)):
        if instant.action is Action.CLEAN:
            is_deleted = name in state.clean_result(instant).deleted.get(within, ())
        else:
            undone = decode_rollback_result(state.body(instant), state.where(instant))
            is_deleted = any(deleted.endswith(f"/{path}") for deleted in undone.deleted.get(within, ()))
        if is_deleted:
            yield "deleted", str(instant.action), str(instant.time), "active", f"{state.storage.base_path}/{path}"
            return
    yield "unknown", "", "", "", ""


def _invalid(call: Call) -> Iterator[tuple[str]]:
    if call["needDelete"]:
        raise SqlError(
            "Damaged files are not deleted by show_invalid_parquet", fix="look with `hudi-services doctor --deep` first"
        )
    storage = storage_of(call["path"])
    partitions, instants = (
        [part.strip() for part in call[n].split(",") if part.strip()] for n in ("partitions", "instants")
    )
    partitions = [partition_path(partition) for partition in partitions]
    for file in walk_files(storage, ""):
        name = BaseFileName.parse(file.name)
        folder = file.path.rpartition("/")[0]
        if name is None or (partitions and folder not in partitions) or (instants and name.instant not in instants):
            continue
        try:
            with open_file(storage, file.path):
                pass
        except CorruptFileError:
            yield (f"{storage.base_path}/{file.path}",)


def _path_detail(call: Call) -> Iterator[tuple[Any, ...]]:
    storage = storage_of(call["path"])
    folders = storage.list("").folders if call["is_sub"] else [""]
    result = []
    for folder in folders:
        files = list(walk_files(storage, folder))
        below = {
            "/".join(parts[:depth]) for file in files for parts in [file.path.split("/")] for depth in range(len(parts))
        }
        size = sum(file.size for file in files)
        path = f"{storage.base_path}/{folder}" if folder else storage.base_path
        paths = len({below_folder for below_folder in below if below_folder.startswith(folder)} | {folder})
        result.append((paths, len(files), size, _unit(size), path, size, -1, -1))
    yield from sorted(result, key=lambda row: row[2], reverse=True) if call["sort"] else result


def _unit(size: float) -> str:
    place = min(len(_UNITS) - 1, int(math.log(size, 1024))) if size else 0
    return f"{size / 1024**place:.2f}{_UNITS[place]}"


def _mapping(call: Call) -> Iterator[tuple[Any, ...]]:
    file_ids = {file_id.strip() for file_id in call["file_ids"].split(",") if file_id.strip()}
    partition, rows = partition_path(call["partition_path"] or ""), []
    for file_slice in TableView(call.state).slices:
        base = file_slice.base_file
        if base is None or base.source is None or (file_ids and file_slice.file_id not in file_ids):
            continue
        if partition in ("", file_slice.partition):
            folder, _, name = base.source.uri.rpartition("/")
            root = folder.removesuffix(f"/{file_slice.partition}") if file_slice.partition else folder
            rows.append((file_slice.partition, file_slice.file_id, root, folder.removeprefix(root).strip("/"), name))
    names = [field.name for field in call.procedure.result]
    if call["sort_by"] not in names:
        raise SqlError(f"There is no column {call['sort_by']:.100} to sort by", fix=f"use one of {', '.join(names)}")
    yield from sorted(rows, key=lambda row: row[names.index(call["sort_by"])], reverse=call["desc"])


def _bootstrapped(call: Call) -> Iterator[tuple[str]]:
    file_slices = (
        file_slice
        for file_slice in TableView(call.state).slices
        if file_slice.base_file is not None and file_slice.base_file.source
    )
    for partition in sorted({file_slice.partition for file_slice in file_slices}):
        yield (partition,)


FILES = (
    Procedure(
        "show_fsview_all",
        "All file slices that are there.",
        _VIEW,
        columns(**_SLICE, delta_files=TEXT),
        _fsview_all,
        _DIFFERS,
    ),
    Procedure(
        "show_fsview_latest",
        "The newest slice of each file group.",
        (*_VIEW, Parameter("partition_path", default=_ALL), Parameter("merge", FLAG, default=True)),
        columns(
            **_SLICE,
            delta_size_compaction_scheduled=LONG,
            delta_size_compaction_unscheduled=LONG,
            delta_to_base_radio_compaction_scheduled=FLOAT,
            delta_to_base_radio_compaction_unscheduled=FLOAT,
            delta_files_compaction_scheduled=TEXT,
            delta_files_compaction_unscheduled=TEXT,
        ),
        _fsview_latest,
        f"scheduled are the logs of slices that a waiting compaction names, unscheduled the others; {_DIFFERS}",
    ),
    Procedure(
        "stats_file_sizes",
        "Sizes of the data files, by the commit that wrote them.",
        (TABLE, Parameter("partition_path", default=""), limit()),
        columns(
            **{
                "commit_time": TEXT,
                "min": LONG,
                "10th": FLOAT,
                "50th": FLOAT,
                "avg": FLOAT,
                "95th": FLOAT,
                "max": LONG,
                "num_files": INT,
                "std_dev": FLOAT,
            }
        ),
        _sizes,
        "the newest commit first; only files that are part of the table",
    ),
    Procedure(
        "show_file_status",
        "State of a data file: present, or the clean or rollback that deleted it.",
        (*TABLE_OR_PATH, Parameter("partition"), Parameter("file", required=True), FILTER),
        columns(status=TEXT, action=TEXT, instant=TEXT, timeline=TEXT, full_path=TEXT),
        _status,
        "archived cleans and rollbacks are not asked",
    ),
    Procedure(
        "show_invalid_parquet",
        "The base files below a path whose footer cannot be read.",
        (
            Parameter("path", required=True),
            Parameter("parallelism", INT, 100),
            limit(100),
            Parameter("needDelete", FLAG, default=False),
            Parameter("partitions", default=""),
            Parameter("instants", default=""),
            FILTER,
        ),
        columns(path=TEXT),
        _invalid,
        "needDelete => true is refused; one file after the other is opened",
    ),
    Procedure(
        "show_fs_path_detail",
        "Files and bytes below a path.",
        (
            Parameter("path", required=True),
            Parameter("is_sub", FLAG, default=False),
            Parameter("sort", FLAG, default=True),
            limit(100),
            FILTER,
        ),
        columns(
            **{
                "path_num": LONG,
                "file_num": LONG,
                "storage_size": LONG,
                "storage_size(unit)": TEXT,
                "storage_path": TEXT,
                "space_consumed": LONG,
                "quota": LONG,
                "space_quota": LONG,
            }
        ),
        _path_detail,
        "quotas are not known and -1; space_consumed are the bytes of the files",
    ),
    Procedure(
        "show_bootstrap_mapping",
        "The source files of a bootstrapped table's file groups.",
        (
            *TABLE_OR_PATH,
            Parameter("partition_path", default=""),
            Parameter("file_ids", default=""),
            limit(),
            Parameter("sort_by", default="partition"),
            Parameter("desc", FLAG, default=False),
            FILTER,
        ),
        columns(partition=TEXT, file_id=TEXT, source_base_path=TEXT, source_partition=TEXT, source_file=TEXT),
        _mapping,
        "file groups that were rewritten since have no source any more, and are left out",
    ),
    Procedure(
        "show_bootstrap_partitions",
        "The partitions of a bootstrapped table that need their source.",
        (*TABLE_OR_PATH, FILTER),
        columns(indexed_partitions=TEXT),
        _bootstrapped,
        "partitions that were rewritten whole since are left out",
    ),
)

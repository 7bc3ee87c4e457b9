"""Assignment of incoming rows to files: a pure plan from counts, sizes and options.

Updates go to the file group that holds their key. Inserts first fill small files, then new file groups
(`hoodie.parquet.small.file.limit`, `hoodie.parquet.max.file.size`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName
from hoodie.write.worker.assignment import Assignment, FileTask

_HASH_SPACE = 1 << 32
_MIN_RECORD, _MAX_RECORD = 8, 1 << 20  # bytes: one odd commit must not turn every file into crumbs or into a giant


@dataclass(frozen=True, slots=True)
class SizingOptions:
    """Bytes; `record_bytes` is the guess until a commit shows the real size.

    `small_files` is how many small files of a partition inserts may fill in a merge-on-read table: each is then written again,
    its updates too, which logs are to avoid.
    """

    max_file_bytes: int
    small_file_bytes: int
    record_bytes: int
    small_files: int


def average_record_bytes(commits: Iterable[CommitMetadata], options: SizingOptions) -> int:
    """Bytes of a record in base files: from the newest commit that wrote more than a small file, or the configured guess.

    `commits` come newest first. The result is clamped: one odd commit must not make files of a few rows, or giants.
    """
    for commit in commits:
        written, rows = commit.bytes_written, commit.rows_written
        if rows and written > options.small_file_bytes:
            return min(max(written // rows, _MIN_RECORD), _MAX_RECORD)
    return options.record_bytes


def assign(
    updates: Mapping[int, int],
    inserts: Mapping[str, int],
    slices: Sequence[FileSlice],
    no_inserts: Callable[[FileSlice], bool],
    record_bytes: int,
    options: SizingOptions,
    new_file_id: Callable[[], str],
    new_group: Callable[[int], FileTask],
    log_name: Callable[[FileSlice], LogFileName] | None = None,
    input_row_bytes: int = 0,
) -> Assignment:
    """Plan the files of a write.

    `updates`: number of a file group (its place in `slices`; past them `new_group` makes it) -> rows that touch it. `inserts`:
    partition -> rows to insert. `no_inserts` returns True for slices that must not grow (they wait for clustering). In a
    merge-on-read table `log_name` names the log to which a slice's updates go; a slice that also takes inserts is written again,
    since the index does not look into logs first. `input_row_bytes` is the size of a row of the input, 0 if unknown: tasks of
    large rows are not small, even if older records were.
    """
    tasks: list[FileTask] = []
    rows: Counter[int] = Counter()  # by task
    task_of_group: dict[int, int] = {}

    def task_for(number: int) -> int:
        if number not in task_of_group:
            task_of_group[number] = len(tasks)
            file_slice = slices[number] if number < len(slices) else None
            tasks.append(
                new_group(number)
                if file_slice is None
                else FileTask(file_slice.partition, file_slice.file_id, file_slice)
            )
        return task_of_group[number]

    for number in sorted(updates):
        rows[task_for(number)] += updates[number]
    routes: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    rows_per_file = max(1, options.max_file_bytes // record_bytes)
    small: dict[str, list[int]] = {}  # partition -> numbers of its slices that may grow, smallest first
    for number in sorted(range(len(slices)), key=lambda n: (slices[n].size, slices[n].file_id)):
        if 0 < slices[number].size < options.small_file_bytes and not no_inserts(slices[number]):
            small.setdefault(slices[number].partition, []).append(number)
    for partition in sorted(inserts):
        shares: list[tuple[int, int]] = []  # task, rows
        rows_left = inserts[partition]
        candidates = small.get(partition, [])
        for number in candidates if log_name is None else candidates[: options.small_files]:
            room = (options.max_file_bytes - slices[number].size) // record_bytes
            if rows_left > 0 and room > 0:
                share = min(room, rows_left)
                shares.append((task_for(number), share))
                rows_left -= share
        while rows_left > 0:
            new_files = -(-rows_left // rows_per_file)
            share = -(-rows_left // new_files)
            shares.append((len(tasks), share))
            tasks.append(FileTask(partition, new_file_id(), None))
            rows_left -= share
        routes[partition] = _route(shares)
        rows.update(dict(shares))
    if log_name is not None:
        grows = {task for _, shares in routes.values() for task in shares.tolist()}
        for number, task in enumerate(tasks):
            if task.slice is not None and number not in grows:
                tasks[number] = replace(task, log=log_name(task.slice))
    rewritten = (task.slice.size if task.slice is not None and task.log is None else 0 for task in tasks)
    sizes = tuple(old + rows[number] * max(record_bytes, input_row_bytes) for number, old in enumerate(rewritten))
    return Assignment(tuple(tasks), task_of_group, routes, sizes)


def _route(shares: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array([count for _, count in shares], dtype=np.float64)
    bounds = (np.cumsum(rows) / rows.sum() * _HASH_SPACE).astype(np.uint64)
    bounds[-1] = _HASH_SPACE  # rounding must not leave a row without a file
    return bounds, np.array([task for task, _ in shares], dtype=np.int64)

"""File of each task, and the assignment of rows to files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hoodie.model.files import FileSlice
from hoodie.model.names import LogFileName


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to write: a new version of `slice`, or a new file group when it has none.

    With a `log` the rows are appended to the slice in a log file of that name instead.
    """

    partition: str
    file_id: str
    slice: FileSlice | None
    log: LogFileName | None = None


@dataclass(frozen=True)
class Assignment:
    """The files to write, and how rows find theirs (by place in `tasks`)."""

    tasks: tuple[FileTask, ...]
    task_of_group: Mapping[int, int]  # number of a touched file group -> task
    inserts: Mapping[str, tuple[np.ndarray, np.ndarray]]  # partition -> upper bounds in the hash space, tasks
    sizes: tuple[int, ...]  # about how many bytes each task reads and writes

    def insert_tasks(self, partition: str, hashes: np.ndarray) -> np.ndarray:
        """The task of each row to insert into `partition`, from the 32-bit hash of its key."""
        bounds, tasks = self.inserts[partition]
        return tasks[np.searchsorted(bounds, hashes.astype(np.uint64), side="right")]

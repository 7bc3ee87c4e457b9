"""Progress of an engine through its tasks: reported after each task, never for a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

_PLAIN = {
    "bulk insert": "write files",
    "file schemas": "read schemas",
    "file search": "search files",
    "footer look": "read footers",
    "footers": "read footers",
    "gather hashes": "compare keys",
    "key rows": "read rows",
    "key stored": "read stored keys",
    "read group changes": "read changes",
    "count group changes": "count changes",
    "read slice": "read rows",
    "repeated in bucket": "compare keys",
    "route": "share out rows",
    "source sums": "sum up the source",
    "spread hashes": "compare keys",
    "survey": "count rows",
    "survey input": "count rows",
    "table sums": "sum up the table",
    "tag": "look up keys",
    "write skeletons": "write keys",
}
"""Steps that are not called as people call them, by the names of their functions."""
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@dataclass(frozen=True)
class Stage:
    """One call of an engine: what its tasks do, how many are done of how many, and of about how many bytes and files (0: not
    known)."""

    step: str
    tasks: int
    bytes: int = 0
    tasks_done: int = 0
    bytes_done: int = 0
    files: int = 0
    files_done: int = 0


Progress = Callable[[Stage], None]
"""Is given the stage when it begins and after each task, by whichever thread did it: it must be quick."""


def step_of(function: Callable[..., Any]) -> str:
    """Name of the work of a task function: WriteFiles -> "write files", BulkInsert, too."""
    inner = getattr(function, "func", function)  # the function that a partial calls
    name = getattr(inner, "__name__", type(inner).__name__)
    words = " ".join(_BORDER.sub(" ", name).split()).lower()
    return _PLAIN.get(words, words)


def files_of(function: Callable[..., Any], tasks: int) -> Sequence[int]:
    """One file a task if the function says so (`task_is_file`), otherwise none that are known."""
    return [1] * tasks if getattr(getattr(function, "func", function), "task_is_file", False) else ()


class Counter:
    """Counts the tasks of a stage and reports its progress; `sizes` in bytes and `files`, by the number of the task, or empty."""

    def __init__(
        self, progress: Progress, step: str, tasks: int, sizes: Sequence[int], files: Sequence[int] = ()
    ) -> None:
        self._progress = progress
        self._sizes = sizes
        self._files = files
        self._stage = Stage(step, tasks, sum(sizes), files=sum(files))
        self._lock = Lock()
        progress(self._stage)

    def finish(self, task: int) -> None:
        """This task is done."""
        with self._lock:
            stage = self._stage
            size = self._sizes[task] if self._sizes else 0
            files = self._files[task] if self._files else 0
            self._stage = replace(
                stage,
                tasks_done=stage.tasks_done + 1,
                bytes_done=stage.bytes_done + size,
                files_done=stage.files_done + files,
            )
            self._progress(self._stage)

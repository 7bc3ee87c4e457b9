"""The output of a service's process: all of it goes to a file beside the log of the task, and the lines for people go
to the log.

If Airflow keeps logs elsewhere (`remote_logging`), the file may go with the machine: the lines of a failed task are
then in the log, too, as a group that Airflow's pages show folded.
"""

from __future__ import annotations

import os
import re
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TextIO

from airflow.sdk.configuration import conf

from hoodie.display import size_of
from hudi_services.cli.output_lines import MARK, PROGRESS

_LAST = 500  # lines that are held to find out why a process died without a word
_MOST_SHOWN = 300  # characters of a line of Spark's own log
_FOLDED = 4 * 1024 * 1024  # bytes of the output, its last ones, that go to a log that is kept elsewhere
_GROUP, _END = "::group::", "::endgroup::"
# The first line of a warning or an error of Spark's log, by its own pattern or by that of conf/spark; a stack trace follows it.
_SPARK = re.compile(r"(?:\S+ )?\d\d:\d\d:\d\d\S* (?:WARN|ERROR|FATAL)\s+(\w+): .*")
_REPEATING = frozenset({"Executor", "TaskSetManager"})  # what a task failed with, for each of its attempts


def _ignored(_progress: str) -> None:
    """Drop the progress."""


class Output:
    """The output of a process. Use it as a context: the file is there from the first line on."""

    def __init__(self, file: Path, progressed: Callable[[str], None] = _ignored) -> None:
        """`progressed` is given how far the service is, as JSON."""
        self.file = file
        self._progressed = progressed
        self._last: deque[str] = deque(maxlen=_LAST)
        self._stack = ExitStack()
        self._sink: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
        self._sink = None

    def left(self, tell: Callable[[str], None]) -> str | None:
        """The place of the output for people; None when nothing was printed. If the file may go, its lines are logged."""
        if not self._last:
            return None
        if not logs_go_elsewhere():
            return f"{self.file} on {socket.gethostname()}"
        size = self.file.stat().st_size
        part = f", the last {size_of(_FOLDED)} of {size_of(size)}" if size > _FOLDED else ""
        tell(f"{_GROUP}Full output{part}")
        for line in self._end():
            tell(f" {line}" if line.startswith((_GROUP, _END)) else line)
        tell(_END)
        return f"in the log of this task, folded{part}"

    @property
    def last(self) -> str:
        """The last lines."""
        return "\n".join(self._last)

    def kept(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, written down as they come."""
        for line in lines:
            text = line.rstrip("\n")
            self._last.append(text)
            self._write(text)
            yield text

    def shown(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines that people read; all lines are written down."""
        for line in self.kept(lines):
            if line.startswith(MARK):
                yield line.removeprefix(MARK)
            elif line.startswith(PROGRESS):
                self._progressed(line.removeprefix(PROGRESS))
            elif (match := _SPARK.match(line)) is not None and match[1] not in _REPEATING:
                yield f"Spark: {line[:_MOST_SHOWN]}"

    def _end(self) -> Iterator[str]:
        with self.file.open("rb") as file:
            if file.seek(0, os.SEEK_END) > _FOLDED:
                file.seek(-_FOLDED, os.SEEK_END)
                file.readline()  # half a line
            else:
                file.seek(0)
            for line in file:
                yield line.decode(errors="replace").rstrip("\n")

    def _write(self, line: str) -> None:
        if self._sink is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._sink = self._stack.enter_context(self.file.open("w", encoding="utf-8", errors="replace", buffering=1))
        self._sink.write(f"{line}\n")


def logs_go_elsewhere() -> bool:
    """Return true if Airflow takes logs to a place of their own: files beside them stay where the task ran, and may go
    with it."""
    return bool(conf.getboolean("logging", "remote_logging", fallback=False))


def beside_log(context: Any, kind: str) -> Path:
    """A file in the folder of the task's log, for this try."""
    ti = context["ti"]
    steps = [f"dag_id={ti.dag_id}", f"run_id={ti.run_id}", f"task_id={ti.task_id}"]
    if ti.map_index >= 0:
        steps.append(f"map_index={ti.map_index}")
    folder = Path(conf.get("logging", "base_log_folder"))
    # Airflow takes every file whose name begins with that of the log for a part of it.
    return folder.joinpath(*(step.replace(os.sep, "_") for step in steps), f"attempt={ti.try_number}.{kind}")

"""Progress of work that takes longer than two seconds: lines in a log, a bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from hoodie.display import counted, size_of

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.engine import Progress, Stage

Also = Callable[["Stage", float], None]
"""A callback that gets a stage, and the seconds for which it has been at work."""
_FIRST, _NEXT = 2.0, 5.0  # seconds to the first line, and between lines


@contextmanager
def progress_shown(tell: Callable[[str], None] | None, also: Also | None = None) -> Iterator[Progress | None]:
    """The receiver of an engine's progress: a bar if standard error is a terminal, otherwise lines through `tell`, if any, and
    the stage itself for `also`."""
    if sys.stderr.isatty():
        with _bar() as bar:
            yield bar
    elif tell is None:
        yield None
    else:
        with progress_lines(tell, also=also) as lines:
            yield lines


@contextmanager
def progress_lines(
    tell: Callable[[str], None], first: float = _FIRST, following: float = _NEXT, also: Also | None = None
) -> Iterator[Progress]:
    """A line after `first` seconds, and then every `following` ones, however long a task takes."""
    lines, ended = _Lines(tell, also), Event()

    def ticks() -> None:
        wait = first
        while not ended.wait(wait):
            lines.tick()
            wait = following

    ticker = Thread(target=ticks, daemon=True)
    ticker.start()
    try:
        yield lines.keep
    finally:
        ended.set()
        ticker.join()


class _Lines:
    """The stage that is at work, and since when."""

    def __init__(self, tell: Callable[[str], None], also: Also | None) -> None:
        self._tell = tell
        self._also = also
        self._now: tuple[Stage, float] | None = None

    def keep(self, stage: Stage) -> None:
        before = self._now
        same = before is not None and before[0].step == stage.step and stage.tasks_done >= before[0].tasks_done
        self._now = (stage, before[1] if before is not None and same else time.monotonic())

    def tick(self) -> None:
        if self._now is not None:
            stage, since = self._now
            seconds = time.monotonic() - since
            self._tell(line_of(stage, seconds))
            if self._also is not None:
                self._also(stage, seconds)


def line_of(stage: Stage, seconds: float) -> str:
    """`read rows: 3 of 12 files, 43.1 MiB of 160 MiB, 8.6 MiB/s, 5 s`; tasks where files are not known."""
    return f"{stage.step}: {', '.join([*_parts(stage, seconds), f'{seconds:.0f} s'])}"


def _parts(stage: Stage, seconds: float) -> list[str]:
    completed, of_all, noun = stage.tasks_done, stage.tasks, "task"
    if stage.files:
        completed, of_all, noun = stage.files_done, stage.files, "file"
    parts = [f"{completed:,} of {counted(of_all, noun)}"] if of_all else []
    if stage.bytes:
        parts.append(f"{size_of(stage.bytes_done)} of {size_of(stage.bytes)}")
        if stage.bytes_done and seconds > 0:
            parts.append(f"{size_of(stage.bytes_done / seconds)}/s")
    return parts


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar that goes away when all is done; nothing in the first two seconds. Its clock is that of the step, as in lines."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    bars = Bars(*columns, console=Console(stderr=True), transient=True)
    task, start, since = bars.add_task("", detail="", total=None), time.monotonic(), [("", 0.0)]

    def keep(stage: Stage) -> None:
        now = time.monotonic()
        if since[0][0] != stage.step:
            since[0] = (stage.step, now)
            bars.reset(task)
        detail = ", ".join(_parts(stage, now - since[0][1]))
        total, completed = (stage.bytes, stage.bytes_done) if stage.bytes else (stage.tasks, stage.tasks_done)
        bars.update(task, description=stage.step, completed=completed, total=total or None, detail=detail)
        if now - start >= _FIRST and not bars.live.is_started:
            bars.start()

    try:
        yield keep
    finally:
        bars.stop()

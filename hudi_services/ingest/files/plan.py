"""Which files a run of the ingestion loads: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from hudi_services.ingest.files.listing import SourceFile


@dataclass(frozen=True)
class Window:
    """A half-open range of the dates in file paths; None leaves that side open."""

    start: date | None = None
    end: date | None = None

    @property
    def is_open(self) -> bool:
        return self.start is None and self.end is None

    def __contains__(self, day: date | None) -> bool:
        if self.is_open:
            return True
        if day is None:
            return False
        return (self.start is None or day >= self.start) and (self.end is None or day < self.end)


@dataclass(frozen=True)
class FilesPlan:
    """Files to load in order, and those left out with the reason."""

    files: tuple[SourceFile, ...]
    loaded_before: int
    outside_window: int
    changed: tuple[SourceFile, ...]  # loaded before, with another size since

    @property
    def reason(self) -> str:
        """In one line why these files, or why none."""
        left_out = [
            (self.loaded_before, "were loaded before"),
            (self.outside_window, "are outside the date range"),
            (len(self.changed), "changed after they were loaded (--reload loads them again)"),
        ]
        parts = [f"{count} {what}" for count, what in left_out if count]
        return f"{len(self.files)} files to load" + (f"; {', '.join(parts)}" if parts else "")


def plan_files(files: Sequence[SourceFile], loaded: Mapping[str, int], window: Window, *, reload: bool) -> FilesPlan:
    """Choose the files of the window that were not loaded before; with `reload` all of the window."""
    chosen, changed = [], []
    before = outside = 0
    for file in files:
        if file.day not in window:
            outside += 1
        elif reload or file.path not in loaded:
            chosen.append(file)
        elif loaded[file.path] != file.size:
            changed.append(file)
        else:
            before += 1
    return FilesPlan(tuple(chosen), before, outside, tuple(changed))

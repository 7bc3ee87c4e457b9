"""The files that a run of the ingestion loads: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from math import inf

from hoodie.display import counted
from hudi_services.sources.ingest.files.checkpoint import Broken, LoadedFile
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.files.names import Names

_NEW = "~"  # after any instant
SHOWN = 5
"""The number of files whose reasons one line lists."""


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
    changed: tuple[SourceFile, ...]  # loaded before, with another size or time since
    unmatched: int = 0  # files of other names than those of the pattern or format
    young: tuple[SourceFile, ...] = ()
    broken: Mapping[str, Broken] = field(default_factory=dict)
    unasked: int = 0
    again: Mapping[str, str] = field(
        default_factory=dict
    )  # path of each of `files` that was loaded before -> what of it
    newest_ms: int | None = None  # when one of all files of these names was changed last
    idle: tuple[str, ...] = ()  # what is wrong with patterns that match nothing

    @property
    def reason(self) -> str:
        """One line for people: why these files, or why there are none."""
        return self._summary("to load")

    @property
    def outcome(self) -> str:
        """One line for people: what the run did with the files, once they are loaded."""
        return self._summary("loaded")

    def _summary(self, chosen: str) -> str:
        left_out = [
            (self.loaded_before, "loaded before"),
            (self.unasked, "not asked for"),
            (self.outside_window, "outside the date range"),
            (self.unmatched, "of other names"),
            (len(self.young), "changed too short a time ago, left to a later run"),
            (len(self.changed), "changed after they were loaded (--reload loads them again)"),
        ]
        parts = [f"{count} {reason}" for count, reason in left_out if count]
        if self.broken:
            examples = [f"{path} ({broken.reason})" for path, broken in islice(self.broken.items(), SHOWN)]
            more = f" and {len(self.broken) - SHOWN} more" if len(self.broken) > SHOWN else ""
            parts.append(f"{len(self.broken)} cannot be read and are SKIPPED: {', '.join(examples)}{more}")
        again = sum(file.path in self.again for file in self.files)
        chosen += f", {again} of them again" if again else ""
        summary = f"{counted(len(self.files), 'file')} {chosen}" + (f"; {', '.join(parts)}" if parts else "")
        return "; ".join((summary, *self.idle))

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """The files that a later run may load, and the reasons why this one does not. Files in the table are not among them."""
        yield from ((file.path, "changed too short a time ago") for file in self.young)
        yield from ((file.path, "changed after it was loaded: --reload loads it again") for file in self.changed)
        yield from ((path, f"cannot be read: {broken.reason}") for path, broken in self.broken.items())

    def without(self, broken: Mapping[str, Broken]) -> FilesPlan:
        """The plan when these of its files turn out to be broken."""
        files = tuple(file for file in self.files if file.path not in broken)
        return replace(self, files=files, broken={**self.broken, **broken})


@dataclass(frozen=True)
class Choice:
    """The conditions for a file of a run: the dates of its path, its name, and a last change before a time (ms since 1970).

    With `reload` all loaded files are taken again, otherwise those in `again` (path -> instant of the commit that loaded it).
    They come in the order in which they were loaded, and before new files.
    """

    window: Window = field(default_factory=Window)
    names: Names = field(default_factory=Names)
    settled_ms: float = inf
    order: str = "name"
    reload: bool = False
    only: Names = field(default_factory=Names)
    again: Mapping[str, str] = field(default_factory=dict)

    def asks_for(self, file: SourceFile) -> bool:
        """True if the run was asked for `file`."""
        return file.path in self.only and file.day in self.window

    def takes_again(self, file: SourceFile) -> bool:
        """True if `file` is to be loaded although it was loaded before."""
        return (self.reload or file.path in self.again) and self.asks_for(file)


def plan_files(
    files: Sequence[SourceFile],
    loaded: Mapping[str, LoadedFile],
    choice: Choice,
    broken: Mapping[str, Broken] | None = None,
) -> FilesPlan:
    """Choose the files that are new, or are to be loaded again. Files that were `broken` stay so until they change."""
    chosen, changed, young = [], [], []
    still: dict[str, Broken] = {}
    again: dict[str, str] = {}
    before = outside = unmatched = unasked = 0
    for file in files:
        was = (broken or {}).get(file.path)
        if file.path not in choice.names:
            unmatched += 1
        elif was is not None and was.is_of(file) and not choice.takes_again(file):
            still[file.path] = was
        elif file.path not in choice.only:
            unasked += 1
        elif file.day not in choice.window:
            outside += 1
        elif file.path in loaded and not choice.takes_again(file):
            if loaded[file.path].is_of(file):
                before += 1
            else:
                changed.append(file)
        elif file.modified_ms > choice.settled_ms:
            young.append(file)
        else:
            chosen.append(file)
            if (was_loaded := loaded.get(file.path)) is not None:
                reload_reason = f" by {choice.again[file.path]}" if file.path in choice.again else ""
                since = "" if was_loaded.is_of(file) else ", and changed since"
                again[file.path] = f"again: loaded{reload_reason}{since}"
    if choice.order == "modified":
        chosen.sort(key=lambda file: (file.modified_ms, file.path))
    if choice.again:
        chosen.sort(key=lambda file: choice.again.get(file.path, _NEW))
    newest = max((file.modified_ms for file in files if file.path in choice.names), default=None)
    return FilesPlan(
        tuple(chosen), before, outside, tuple(changed), unmatched, tuple(young), still, unasked, again, newest
    )

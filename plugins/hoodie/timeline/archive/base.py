"""Archived timeline, with any storage (format notes, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.model.clean import CleanResult
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant

SEARCH_ON = (
    "restore the file from a backup; until then what needs no archived instant works, "
    "an incremental read with full_scan=True, and an ingestion with --start-fresh, which loads every file again"
)


Key = tuple[Time, Action]
"""Key of an instant, archived or not: see `Instant.key`."""


class ArchivedTimeline(Protocol):
    """Completed instants that are no longer on the active timeline. Nothing is read before it is asked for, nothing twice.

    An archiver that died may leave instants here that are on the active timeline too. Every method raises CorruptTableError
    or MissingFileError naming the file of the archive that is torn or gone.
    """

    def stamp(self) -> str:
        """A value that differs whenever the archive holds other instants than before. Reads none of its files."""
        ...

    def instants(self, after: Time = BEGINNING, until: Time | None = None) -> tuple[Instant, ...]:
        """Those whose requested time is greater than `after` and not greater than `until`, ascending."""
        ...

    def newest(self) -> Iterator[Instant]:
        """All of them, descending; no more of the archive is read than the caller takes."""
        ...

    def reaches(self, time: Time) -> bool:
        """Return whether a write instant that began at `time` or later is archived. Reads no more than the newest files."""
        ...

    def completion_times(self, times: Collection[Time]) -> Mapping[Time, Time]:
        """Requested time -> completion time of those of the write instants `times` that are archived."""
        ...

    def archived_keys(self, instants: Collection[Instant]) -> frozenset[Key]:
        """The keys of those of `instants` that are archived, though the active timeline has them, too."""
        ...

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        """The body of an archived write instant."""
        ...

    def clean_result(self, instant: Instant) -> CleanResult:
        """The body of an archived clean."""
        ...

    def taken_back(self, instant: Instant) -> frozenset[Time] | None:
        """The instants that an archived rollback or restore undid; None where the archive does not say it."""
        ...


def action_of(word: str | None) -> Action | None:
    """The action of an entry, or None for one of a later Hudi that is not known."""
    return Action(word).completed_as if word in set(Action) else None


def completion_times(instants: Collection[Instant], times: Collection[Time]) -> dict[Time, Time]:
    """Requested time -> completion time of the write instants among `times`."""
    requested = frozenset(times)
    return {
        instant.time: instant.completion_time
        for instant in instants
        if instant.time in requested and instant.completion_time and instant.action in WRITE_ACTIONS
    }


def torn(path: str, detail: Any) -> CorruptTableError:
    return CorruptTableError(f"The archived timeline cannot be read: {path}", found=str(detail), fix=SEARCH_ON)


def missing(path: str, named_by: str) -> MissingFileError:
    return MissingFileError(
        f"The archived timeline cannot be read: {path} is not there", found=f"{named_by} names it", fix=SEARCH_ON
    )

"""An instant: one action on a table at one time (format notes, sections 2.1 and 2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import IntEnum, StrEnum

from hoodie.errors import NoInstantError
from hoodie.model.time import Time, with_milliseconds

_LENGTH = 17  # yyyyMMddHHmmssSSS


class Action(StrEnum):
    COMMIT = "commit"
    DELTA_COMMIT = "deltacommit"
    REPLACE_COMMIT = "replacecommit"
    CLUSTERING = "clustering"
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    CLEAN = "clean"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"
    RESTORE = "restore"
    INDEXING = "indexing"

    @property
    def completed_as(self) -> Action:
        """The action word of the completed file: a compaction completes as a commit, and so on."""
        return _COMPLETED_AS.get(self, self)


_COMPLETED_AS = {
    Action.COMPACTION: Action.COMMIT,
    Action.LOG_COMPACTION: Action.DELTA_COMMIT,
    Action.CLUSTERING: Action.REPLACE_COMMIT,
}
WRITE_ACTIONS = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
"""Actions whose completion adds or replaces file slices (as completed)."""


class State(IntEnum):
    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True, slots=True)
class Instant:
    """One action at its highest state.

    `time` is the requested time and the identity; `completion_time` is set for completed instants only.
    """

    time: Time
    action: Action
    state: State
    completion_time: Time | None = None
    file_name: str = (
        ""  # the file that shows the state, inside the timeline folder; of an archived one that of the archive
    )
    stamp: tuple[int, int] = field(
        default=(0, 0), compare=False
    )  # its size in bytes, modification time in ms since 1970

    @property
    def is_completed(self) -> bool:
        """Return whether the action is complete, so that readers see its result."""
        return self.state is State.COMPLETED

    @property
    def is_archived(self) -> bool:
        """Return whether it was found in the archived timeline."""
        return "/" in self.file_name

    @property
    def key(self) -> tuple[Time, Action]:
        """Key that groups the state files of one instant (a savepoint shares its commit's time, so the time is not enough)."""
        return self.time, self.action.completed_as

    def __str__(self) -> str:
        return f"{self.time} {self.action} {self.state.name}"


def format_time(moment: datetime, zone: tzinfo) -> Time:
    """`moment` as instant text in the table's zone, with milliseconds."""
    local = moment.astimezone(zone)
    return Time.of(f"{local.year:04d}" + local.strftime("%m%d%H%M%S") + f"{local.microsecond // 1000:03d}")


def parse_time(time: str, zone: tzinfo) -> datetime:
    """The moment of an instant, in UTC; of the fixed ones of a bootstrap the beginning of time.

    Raises NoInstantError, a ValueError, for text that is not an instant.
    """
    padded = with_milliseconds(time)
    if time.startswith("0000") and time.isdigit():
        return datetime.fromtimestamp(0, UTC)
    try:
        if len(padded) != _LENGTH or not padded.isdigit():
            raise ValueError("not 14 or 17 digits")
        moment = datetime.strptime(padded[:14], "%Y%m%d%H%M%S").replace(
            microsecond=int(padded[14:]) * 1000, tzinfo=zone
        )
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NoInstantError(
            f"{time!r} is not an instant (yyyyMMddHHmmssSSS)",
            found=str(error),
            fix="find the writer of the file of the timeline with this name; Hudi's writers do not use it",
        ) from error

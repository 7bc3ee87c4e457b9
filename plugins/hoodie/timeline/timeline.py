"""The active timeline: the instants of a table, loaded once per operation with one listing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hoodie.cache import cached_property
from hoodie.display import Shown, Shows, counted
from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage, list_whole
from hoodie.timeline.gaps import Gaps
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant, State
from hoodie.timeline.layouts import Layout
from hoodie.timeline.layouts.names import parse_name
from hoodie.timeline.rollbacks import taken_back

_MOST_SHOWN = 50  # instants that are shown, the newest
_AT_ONCE = 900  # files that a store lists in one request; S3 1,000, folders among them


@dataclass(frozen=True, repr=False)
class Timeline(Shows):
    """The instants of the active timeline at their highest state, by time. Immutable: load again to see news."""

    instants: tuple[Instant, ...]
    gaps: Gaps | None = field(default=None, compare=False)

    @staticmethod
    def of(instants: Iterable[Instant], gaps: Gaps | None = None) -> Timeline:
        """Keep the highest state of each instant and sort by requested time. Without `gaps` it has none."""
        highest: dict[tuple[Time, Action], Instant] = {}
        for instant in instants:
            highest_state = highest.get(instant.key)
            if highest_state is None or instant.state > highest_state.state:
                highest[instant.key] = instant
        return Timeline(tuple(sorted(highest.values(), key=lambda instant: (instant.time, instant.action))), gaps)

    def shown(self) -> Shown:
        """The newest instants as a table."""
        rows = [(i.time, i.action, i.state.name, i.completion_time) for i in self.instants[-_MOST_SHOWN:]]
        earlier = f", the last {len(rows)} of them" if len(rows) < len(self.instants) else ""
        line = f"Timeline of {counted(len(self.instants), 'instant')}{earlier}"
        return Shown(line, columns=("time", "action", "state", "completed"), rows=rows)

    def __repr__(self) -> str:
        return self.shown().as_text()

    def without(self, hidden: Collection[Instant]) -> Timeline:
        """The timeline before these completed instants were complete: their files are not committed yet."""
        inflight = {instant.key: replace(instant, state=State.INFLIGHT) for instant in hidden}
        instants = tuple(inflight.pop(instant.key, instant) for instant in self.instants)
        return Timeline.of([*instants, *inflight.values()], self.gaps) if inflight else Timeline(instants, self.gaps)

    def __iter__(self) -> Iterator[Instant]:
        return iter(self.instants)

    def __len__(self) -> int:
        return len(self.instants)

    @cached_property
    def commits(self) -> tuple[Instant, ...]:
        """Completed commits, deltacommits and replacecommits, by requested time."""
        return tuple(i for i in self.instants if i.is_completed and i.action.completed_as in WRITE_ACTIONS)

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """Requested and inflight instants of every action."""
        return tuple(i for i in self.instants if not i.is_completed)

    def completed(self, *actions: Action) -> tuple[Instant, ...]:
        """Completed instants of these actions, by requested time."""
        return tuple(i for i in self.instants if i.is_completed and i.action.completed_as in actions)

    @cached_property
    def commit_times(self) -> frozenset[Time]:
        """Requested times of the completed write instants."""
        return frozenset(instant.time for instant in self.commits)

    @cached_property
    def completion_times(self) -> Mapping[Time, Time]:
        """Requested time of each completed write instant -> its completion time."""
        return {i.time: i.completion_time for i in self.commits if i.completion_time is not None}

    @cached_property
    def start(self) -> Time | None:
        """Requested time of the first write instant, pending or not, that is still in the active timeline."""
        times = [i.time for i in self.instants if i.action.completed_as in WRITE_ACTIONS]
        return min(times, default=None)

    @cached_property
    def _pending_times(self) -> frozenset[Time]:
        return frozenset(i.time for i in self.pending if i.action.completed_as in WRITE_ACTIONS)

    @property
    def _committed_start(self) -> Time | None:
        return self.commits[0].time if self.commits else None

    @cached_property
    def _in_gaps(self) -> frozenset[Time]:
        """Archived commits later than the first one here: a savepoint keeps its own commit, not those after it."""
        if self.gaps is None or self._committed_start is None:
            return frozenset()
        return self.gaps.commits(self._committed_start, self.completed(Action.RESTORE))

    @cached_property
    def taken_back(self) -> frozenset[Time]:
        """Instants before the first commit that a rollback or restore on the active timeline took back."""
        undoing = self.completed(Action.ROLLBACK, Action.RESTORE)
        if self.gaps is None or self._committed_start is None or not undoing:
            return frozenset()
        return taken_back(self.gaps.storage, self.gaps.layout, undoing, self._committed_start)

    def covers(self, time: Time) -> bool:
        """Return whether every commit that began after `time` is on the active timeline: none of them was archived.

        Between its first and its last commit the archive is asked how far it reaches.
        """
        if self._committed_start is None or time < self._committed_start:
            return False
        return self.gaps is None or time >= self.commits[-1].time or not self.gaps.reach(time)

    def is_committed(self, time: Time) -> bool:
        """Return whether files of this instant are visible: it completed, on the active timeline or archived.

        An instant before the first completed commit was archived as completed, unless it is still pending, or a rollback or
        restore on the active timeline took it back: these are read, once. For a later one that the active timeline does not have
        the archive is asked, once: raises CorruptTableError or MissingFileError.
        """
        if time in self.commit_times:
            return True
        if time in self._pending_times or self._committed_start is None:
            return False
        if time < self._committed_start:
            return time not in self.taken_back
        return time < self.commits[-1].time and time in self._in_gaps

    @cached_property
    def last_commit(self) -> Instant | None:
        return self.commits[-1] if self.commits else None

    @cached_property
    def latest_time(self) -> Time | None:
        """The greatest time that any instant carries in its name: new instants must be later.

        Completion times that come from a file's modification time do not count: they are of another clock.
        """
        times = [time for i in self.instants for time in (i.time, i.completion_time) if time and time in i.file_name]
        return max(times, default=None)


def load_timeline(storage: Storage, layout: Layout) -> Timeline:
    """The timeline by one listing of its folder. Raises what `list_instants` raises."""
    return Timeline.of(list_instants(storage, layout), Gaps(storage, layout))


def list_instants(storage: Storage, layout: Layout) -> list[Instant]:
    """An instant for each file in the timeline folder: one with several states occurs once for each.

    Raises CorruptTableError for a completed instant without content: what it did is unknown, and that is not nothing.
    """
    result: list[Instant] = []
    for file in _instant_files(storage, layout):
        instant = layout.parse(file)
        if instant is None:
            continue
        if instant.is_completed and file.size == 0:
            raise CorruptTableError(
                f"Completed instant {storage.base_path}/{file.path} is empty",
                found="0 bytes: its writer died, or a copy was cut short",
                fix="restore the file from a copy. Without one, run `hudi-services doctor`: it says what is lost if you delete "
                "the file, which takes back every row that this instant wrote",
            )
        result.append(instant)
    return result


def _instant_files(storage: Storage, layout: Layout) -> Iterable[FileInfo]:
    """The files of the timeline. A long listing is not of one moment: an archiver may have deleted in the middle of it.

    Completed files go in the order of their times, so nothing is missing as long as the oldest one is there. Raises
    CorruptTableError for a folder with the name of an instant.
    """
    while True:
        listing = list_whole(storage, layout.folder)
        _refuse_folders(storage, listing.folders)
        files = listing.files
        if len(files) <= _AT_ONCE:
            return files
        completed = (i for file in files if (i := layout.parse(file)) is not None and i.is_completed)
        commits = (i for i in completed if i.action in WRITE_ACTIONS)
        oldest = min(commits, key=lambda instant: instant.time, default=None)
        if oldest is None or storage.info(layout.path(oldest)) is not None:
            return files


def _refuse_folders(storage: Storage, folders: Iterable[str]) -> None:
    """The instant would count as pending, and its files be rolled back."""
    folder = next((name for name in folders if parse_name(name.rpartition("/")[2]) is not None), None)
    if folder is not None:
        raise CorruptTableError(
            f"Instant {storage.base_path}/{folder} is a folder",
            found="it is in the place of a file",
            fix="move it away, and restore the file from a copy; nothing was changed",
        )

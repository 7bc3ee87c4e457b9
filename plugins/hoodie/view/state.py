"""The state of a table at one moment: properties, timeline and what instants say. Loaded once per operation, so
that all of it is of one moment."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo

from hoodie.cache import cached_property
from hoodie.clock import Clock, SystemClock
from hoodie.config.properties.store import load_properties
from hoodie.config.properties.table import TableProperties
from hoodie.errors import MissingFileError
from hoodie.model.clean import CleanResult
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import BEGINNING, Time
from hoodie.schema.internal import InternalSchema
from hoodie.storage import ListingCache
from hoodie.storage.base import Storage
from hoodie.timeline import WRITE_ACTIONS, Instant, Layout, Timeline, format_time, layout_of, load_timeline, parse_time
from hoodie.timeline.archive import ArchivedTimeline
from hoodie.timeline.codecs.clean import decode_clean_result
from hoodie.view.files import StorageFiles
from hoodie.view.schema_history import lacks, lost_history, schema_history
from hoodie.view.timeline_check import find_data_file, lost_timeline

_LONGEST_WRITE = timedelta(days=3)  # a commit that began earlier is taken to have been complete at a time


@dataclass(frozen=True)
class TableState:
    """Immutable but for the memory of instants already read."""

    storage: Storage
    properties: TableProperties
    layout: Layout
    timeline: Timeline
    _commits: dict[str, CommitMetadata] = field(default_factory=dict, repr=False)

    @property
    def zone(self) -> tzinfo:
        return self.properties.timezone

    @property
    def files(self) -> StorageFiles:
        """Listing of the table's partitions and files."""
        return StorageFiles(self.storage)

    @cached_property
    def archive(self) -> ArchivedTimeline:
        """The archived timeline, of which nothing is read before it is asked for something."""
        return self.layout.open_archive(self.storage)

    @cached_property
    def recorded_schemas(self) -> tuple[InternalSchema, ...]:
        """`schemas` as their files have them, be they whole or not."""
        return schema_history(self.storage, self.timeline, self.archive)

    @cached_property
    def schemas(self) -> tuple[InternalSchema, ...]:
        """The history of the table's schemas, the oldest first; empty without one. Raises CorruptTableError, also for a history
        that is lost, or MissingFileError."""
        return self.schemas_as_of(None)

    def schemas_as_of(self, as_of: Time | None) -> tuple[InternalSchema, ...]:
        """`schemas` for the rows as of a time: they must have the columns that the last commit until then declares.

        Raises MissingFileError for a commit that is gone by now, and its file of the history with it: who plans again finds both.
        """
        declared = self.declared(as_of)
        if declared is not None and lacks(self.recorded_schemas, declared[1]):
            now = self.reloaded()
            if now is not None and declared[0].time in self.timeline.commit_times - now.timeline.commit_times:
                raise MissingFileError(
                    f"The columns of {self.where(declared[0])} are gone",
                    found="the commit was rolled back or archived since the timeline was listed",
                    fix="try again",
                )
            raise lost_history(self.where(declared[0]))
        return self.recorded_schemas

    def declared(self, as_of: Time | None = None) -> tuple[Instant, CommitMetadata] | None:
        """The last commit not later than `as_of` that declares columns, and its body.

        Commits that carry no schema (some of Hudi's services) are passed over. For an `as_of`, archived commits count, too: an
        archiver may leave older ones on the active timeline.
        """
        if as_of not in self._declared:
            commits = reversed(self.timeline.commits) if as_of is None else self.newest_commits()
            until = (commit for commit in commits if as_of is None or commit.time <= as_of)
            bodies = ((commit, self.commit_metadata(commit)) for commit in until)
            self._declared[as_of] = next((declared for declared in bodies if declared[1].schema), None)
        return self._declared[as_of]

    @cached_property
    def _declared(self) -> dict[Time | None, tuple[Instant, CommitMetadata] | None]:
        """Results of `declared`."""
        return {}

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        """The body of a completed write instant, archived or not.

        Raises CorruptTableError naming the file when it is torn, MissingFileError when it is nowhere.
        """
        if instant.is_archived:
            return self.archive.commit_metadata(instant)
        metadata = self._commits.get(instant.file_name)
        if metadata is None:
            try:
                metadata = self.layout.decode_commit(self.body(instant), instant)
            except FileNotFoundError:
                archive, moved = self._moved(instant)
                metadata = archive.commit_metadata(moved)
            self._commits[instant.file_name] = metadata
        return metadata

    def clean_result(self, instant: Instant) -> CleanResult:
        """The body of a completed clean, archived or not. Raises CorruptTableError, and MissingFileError when it is nowhere."""
        if instant.is_archived:
            return self.archive.clean_result(instant)
        try:
            return decode_clean_result(self.body(instant), self.where(instant))
        except FileNotFoundError:
            archive, moved = self._moved(instant)
            return archive.clean_result(moved)

    def newest_commits(self) -> Iterator[Instant]:
        """Completed writes, archived ones too, the newest first. No more of the archive is read than the caller takes.

        An archiver may pass over the commits of savepoints, so an archived commit can be newer than an active one.
        """
        active = list(self.timeline.commits)
        if active:
            yield active[-1]
        commit_times = self.timeline.commit_times
        archived = (i for i in self.archive.newest() if i.action in WRITE_ACTIONS and i.time not in commit_times)
        older = reversed(active[:-1])
        if len(active) < 2 or self.timeline.covers(active[0].time):
            yield from older
            yield from archived
        else:
            yield from heapq.merge(older, archived, key=lambda instant: instant.time, reverse=True)

    def has_read(self, instant: Instant) -> bool:
        """Return whether `commit_metadata` has the body without reading it."""
        return instant.file_name in self._commits

    def before(self, later: Collection[Instant]) -> TableState:
        """The state without the changes of these completed write instants. Without any, this very state."""
        return replace(self, timeline=self.timeline.without(later)) if later else self

    def reloaded(self) -> TableState | None:
        """The state with the timeline as it is now; None when it is still the same. After an upgrade of the table it has the
        timeline of the new version. Raises CorruptTableError for a timeline that is lost."""
        timeline = load_timeline(self.storage, self.layout)
        if timeline == self.timeline:
            return None
        if self.layout.may_be_left or not timeline.instants:
            return load_state(self.storage, SystemClock())
        return TableState(self.storage, self.properties, self.layout, timeline)

    def earliest_begin(self, after: Time) -> Time:
        """Commits that completed after `after` did not begin before this."""
        try:
            return format_time(parse_time(after, self.zone) - _LONGEST_WRITE, self.zone)
        except (ValueError, OverflowError):  # such as 00000000000000: before everything
            return BEGINNING

    def _moved(self, instant: Instant) -> tuple[ArchivedTimeline, Instant]:
        """An instant that an archiver moved since the timeline was listed, and the archive that has it."""
        archive = self.layout.open_archive(self.storage)
        for moved in archive.instants(until=instant.time):
            if moved.key == instant.key:
                return archive, moved
        raise MissingFileError(
            f"The file of {self.where(instant)} is gone",
            found="neither it nor an entry of the archived timeline",
            fix="restore it from a backup, or try again if a rollback was running",
        )

    def body(self, instant: Instant) -> bytes:
        """The bytes of the file that shows the instant's state."""
        return self.storage.read(self.layout.path(instant))

    def where(self, instant: Instant) -> str:
        """How messages name an instant and its file."""
        return f"instant {instant} of table {self.storage.base_path} ({self.layout.path(instant)})"


def load_state(storage: Storage, clock: Clock) -> TableState:
    """Read the properties and list the timeline: two storage calls for a healthy table, three in version 6.

    Raises TableNotFoundError, CorruptTableError or UnsupportedTableError. A table without any instant must have no data file:
    otherwise its timeline is lost, unless a first write has begun since the timeline was listed.
    """
    state = _loaded(storage, clock)
    data_file = None if state.timeline.instants else find_data_file(storage)
    if data_file is None:
        return state
    if isinstance(storage, ListingCache):
        storage.forget()
    state = _loaded(storage, clock)
    if not state.timeline.instants:
        raise lost_timeline(storage, state.layout.folder, data_file)
    return state


def _loaded(storage: Storage, clock: Clock) -> TableState:
    properties = load_properties(storage, clock)
    while True:
        properties.check_readable()
        layout = layout_of(properties)
        timeline = load_timeline(storage, layout)
        if not layout.may_be_left:
            return TableState(storage, properties, layout, timeline)
        again = load_properties(storage, clock)
        if again.version == properties.version:
            return TableState(storage, properties, layout, timeline)
        properties = again  # an upgrade came in between, and deletes the timeline that was listed

"""Facts of a table for the doctor: gathered once, judged by many checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hoodie.cache import cached_property
from hoodie.errors import HoodieError
from hoodie.index.complex_keys import bare_key_of
from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileGroup, FileSlice
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.services.blockers import Blocker
from hoodie.services.decision import Decision
from hoodie.storage import ListingCache
from hoodie.timeline import Action, Instant
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.transaction.locks import FoundLock
from hoodie.view import TableState
from hoodie.view.files import PartitionFiles, sizes_by_path
from hoodie.view.metadata_table import MetadataListing
from hoodie.view.missing_files import ExpectedFile, absent_files, resized_files
from hoodie.view.slices import file_groups, latest_slices


@dataclass(frozen=True)
class PropertiesFiles:
    """Faults of `hoodie.properties`, if any, and of its backup; `None` for a missing backup."""

    flaw: str | None
    backup: str | None  # "" for a backup that is whole


@dataclass(frozen=True)
class Unreadable:
    """A file of the timeline that cannot be read, and why; `error` is None for a completed instant without content."""

    instant: Instant
    path: str
    error: HoodieError | None
    size: int = 0


@dataclass(frozen=True)
class Facts:
    """A table at one moment. `state` leaves out completed instants without content, which then are pending, or not there.

    `files` are those of all folders that may be partitions, marked as such or not. `commits` are the bodies of completed write
    instants, without the torn ones. `pending` says of each pending instant who is at work on it.
    """

    storage: ListingCache
    state: TableState
    now: datetime
    properties: PropertiesFiles
    nowhen: Sequence[Instant]  # named for a moment that does not exist
    files: Sequence[PartitionFiles]
    commits: Mapping[Time, CommitMetadata]
    unreadable: Sequence[Unreadable]
    plans: Mapping[Instant, Sequence[str]]  # the files that pending plans are to read
    savepoints: Sequence[Savepoint]
    pending: Mapping[Instant, Blocker] | HoodieError
    marked: Sequence[Time]
    beats: Heartbeats
    locks: Sequence[FoundLock]
    metadata: MetadataListing | HoodieError | None
    global_index: bool  # writers have the option to find a key in any partition
    decisions: Mapping[str, Decision[Any] | HoodieError]  # decisions of services, by their names
    small_file_limit: int  # bytes below which writers take a base file for small
    bare_key: str | None  # see `hoodie.index.complex_keys.bare_key`

    @cached_property
    def groups(self) -> Sequence[FileGroup]:
        """The file groups with all their slices, as readers would find them if every partition were marked."""
        return file_groups(self.files, self.state)

    @cached_property
    def slices(self) -> Sequence[FileSlice]:
        """The current ones of `groups`. Groups that only a torn instant replaced are among them."""
        instants = self.state.timeline.completed(Action.REPLACE_COMMIT)
        bodies = (self.commits[instant.time] for instant in instants if instant.time in self.commits)
        return latest_slices(self.groups, {group for body in bodies for group in body.replaced_groups})

    @cached_property
    def mixed_key(self) -> str | None:
        """A key of `slices` that no upsert would find again. It opens files of an upgraded table."""
        return bare_key_of(self.state, self.slices)

    @cached_property
    def resized(self) -> Sequence[tuple[ExpectedFile, int]]:
        """Files of `slices` with another size than their commit says, and their bytes. It may open some of them."""
        return resized_files(self.state, self.slices)

    @cached_property
    def lost(self) -> Sequence[ExpectedFile]:
        """Files of commits that `slices` lack, and that are not at their path."""
        return [file for file in absent_files(self.state, self.slices) if file.path not in self.sizes]

    @cached_property
    def namesakes(self) -> Mapping[str, str]:
        """Paths of files in other folders that have the name of a lost one: as of a partition that someone renamed."""
        names = {file.name: file.path for file in self.lost}
        return {path: names[name] for path in self.sizes if (name := path.rpartition("/")[2]) in names}

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of each data file."""
        return sizes_by_path(self.files)

    @cached_property
    def written(self) -> frozenset[str]:
        """The partitions that commits of the active timeline name."""
        return frozenset(stat.partition for commit in self.commits.values() for stat in commit.stats)

    @cached_property
    def torn(self) -> frozenset[Time]:
        """Instants of which what they did is not known."""
        return frozenset(file.instant.time for file in self.unreadable)

"""The file groups that each commit of a range changed, as they were before and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hoodie.cache import cached_property
from hoodie.changes.completeness import SliceCheck
from hoodie.changes.range import ChangeRange
from hoodie.model.commit import CommitMetadata, WriteStat
from hoodie.model.files import BaseFile, FileSlice, GroupId, LogFile
from hoodie.model.time import Time
from hoodie.timeline import Instant, Timeline
from hoodie.view import TableState, TableView
from hoodie.view.files import PartitionFiles
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.slices import groups_without
from hoodie.view.strays import stray_paths

F = TypeVar("F", BaseFile, LogFile)


@dataclass(frozen=True)
class CommitTimes:
    """A commit of a range, and the timeline without it and with it."""

    time: Time
    completion: Time
    before: Timeline = field(repr=False)
    after: Timeline = field(repr=False)


@dataclass(frozen=True)
class GroupChange:
    """A file group that a commit changed: its slice before and after the commit, None where the group was not in the table."""

    commit: CommitTimes
    group: GroupId
    before: FileSlice | None
    after: FileSlice | None

    @property
    def size(self) -> int:
        """Bytes of both slices."""
        return sum(side.size for side in (self.before, self.after) if side is not None)


@dataclass(frozen=True)
class ChangePlan:
    """The changes of a range, commit by commit. The files of the partitions that it touches are listed once."""

    range: ChangeRange
    whole: bool = True  # refuse slices that lack rows

    def of(self, commit: Instant) -> list[GroupChange]:
        """The groups that the commit changed: replaced ones first, each part by partition and file id.

        Raises ChangeRangeError when a clean removed files of a group, MissingFileError when one is not there for another reason,
        CorruptFileError when one was cut short.
        """
        state = self.range.state
        body = state.commit_metadata(commit)
        before, after = self.range.before(commit), self.range.after(commit)
        times = CommitTimes(commit.time, self.range.completion(commit), before.timeline, after.timeline)
        replaced = sorted(group for group in set(body.replaced_groups) if self._is_there(group, commit))
        stats = {group: some for group, some in _by_group(body).items() if self._is_there(group, commit)}
        old = self._slices([*replaced, *stats], before)
        new = self._slices([group for group in stats if group not in replaced], after)
        for group in replaced:
            self._check.not_cleaned(commit, group, old.get(group))
        for group, some in stats.items():
            self._check.written(commit, some, new.get(group))
            self._check.continued(commit, some, old.get(group), new.get(group), before.timeline)
        for group in (*replaced, *stats) if self.whole else ():
            self._check.whole(commit, group, old.get(group), before.timeline)
            self._check.whole(commit, group, new.get(group), after.timeline)
        return [
            *(GroupChange(times, group, old[group], None) for group in replaced if group in old),
            *(GroupChange(times, group, old.get(group), new.get(group)) for group in sorted(stats)),
        ]

    @property
    def has_logs(self) -> bool:
        """True if there may be slices whose rows have to be merged."""
        return any(not log.is_cdc for logs in self._files.logs.values() for log in logs)

    def _slices(self, groups: Iterable[GroupId], state: TableState) -> dict[GroupId, FileSlice]:
        """The newest slice of each of these groups that has one."""
        by_partition: defaultdict[str, list[GroupId]] = defaultdict(list)
        for group in groups:
            by_partition[group.partition].append(group)
        files = [
            PartitionFiles(
                partition,
                tuple(file for group in some for file in self._files.bases.get(group, ())),
                tuple(file for group in some for file in self._files.logs.get(group, ())),
                has_metafile=True,
            )
            for partition, some in sorted(by_partition.items())
        ]
        return {group.group: group.slices[0] for group in groups_without(self._files.strays, files, state)}

    def _is_there(self, group: GroupId, commit: Instant) -> bool:
        """Return whether no commit that completed before this one replaced the group."""
        replacing = self._replaced.get(group)
        own = self.range.completion(commit), commit.time
        return replacing is None or (self.range.completion(replacing), replacing.time) >= own

    @cached_property
    def _replaced(self) -> Mapping[GroupId, Instant]:
        return replaced_groups(self.range.state)

    @cached_property
    def _check(self) -> SliceCheck:
        return SliceCheck(self.range.state, min(commit.time for commit in self.range.commits), self._listed)

    @cached_property
    def _listed(self) -> Sequence[PartitionFiles]:
        return TableView(self.range.state, sorted(self.range.partitions)).files

    @cached_property
    def _files(self) -> _Files:
        return _Files.of(self.range.active, self._listed)


def _by_group(body: CommitMetadata) -> dict[GroupId, Sequence[WriteStat]]:
    stats: defaultdict[GroupId, list[WriteStat]] = defaultdict(list)
    for stat in body.stats:
        stats[stat.group].append(stat)
    return dict(stats)


@dataclass(frozen=True)
class _Files:
    """The data files of some partitions by file group, and which of them are strays."""

    bases: Mapping[GroupId, Sequence[BaseFile]]
    logs: Mapping[GroupId, Sequence[LogFile]]
    strays: frozenset[str]

    @staticmethod
    def of(state: TableState, files: Sequence[PartitionFiles]) -> _Files:
        return _Files(
            _grouped(file for group in files for file in group.base_files),
            _grouped(file for group in files for file in group.log_files),
            stray_paths(files, state, [group.partition for group in files]),
        )


def _grouped(files: Iterable[F]) -> dict[GroupId, list[F]]:
    result: defaultdict[GroupId, list[F]] = defaultdict(list)
    for file in files:
        result[file.group].append(file)
    return dict(result)

"""Completeness of the slices that a change is read from: files may be cleaned, or lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hoodie.cache import cached_property
from hoodie.errors import ChangeRangeError, CorruptTableError, HoodieError, MissingFileError
from hoodie.model.commit import NO_PREVIOUS_COMMIT, WriteStat
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import BEGINNING, Time
from hoodie.read.times import cleans_after
from hoodie.timeline import Action, Instant, Timeline
from hoodie.timeline.codecs.clean import decode_clean_plan
from hoodie.timeline.codecs.commit_files import LISTED, Written
from hoodie.view import TableState
from hoodie.view.committed_files import written_files
from hoodie.view.files import PartitionFiles
from hoodie.view.missing_files import ExpectedFile, check_sizes, log_place, resized


@dataclass(frozen=True)
class SliceCheck:
    """Checks the slices of commits, the first of which is `first`. Bodies of cleans are read when they are needed.

    `files` are those of the partitions that the commits changed. It is asked once the files are listed. Cleans that began since
    the timeline was loaded count, too: they may have taken files that a commit replaced, which no slice misses.
    """

    state: TableState
    first: Time
    files: Sequence[PartitionFiles] = ()

    def written(self, commit: Instant, stats: Sequence[WriteStat], after: FileSlice | None) -> None:
        """Raises ChangeRangeError or MissingFileError when a file that the commit wrote is not in the slice after it."""
        slice_files = _names(after)
        for stat in stats:
            name = stat.path.rpartition("/")[2]
            if name and name not in slice_files:
                raise self._error(commit, name, cleaned=name in self._cleaned.get(stat.group, ()))

    def continued(
        self,
        commit: Instant,
        stats: Sequence[WriteStat],
        before: FileSlice | None,
        after: FileSlice | None,
        timeline: Timeline,
    ) -> None:
        """Raises ChangeRangeError or MissingFileError when the slice before is not the one that the commit continued.

        Each stat names the begin of that slice. Logs that are written while a compaction waits name the compaction. `timeline`
        is without the commit and later ones.
        """
        for stat in stats:
            previous = stat.prev_commit
            if self._at_work:
                self.not_cleaned(commit, stat.group, before, after)
            if previous in (NO_PREVIOUS_COMMIT, commit.time):  # a log of the library says only when it was written
                continue
            begin = before.base_instant if before is not None else None
            waits = previous not in timeline.commit_times
            appended = stat.log is not None and begin is not None and (waits or previous < begin)
            if begin != previous and not appended:
                slice_name = f"the slice {previous} of file group {stat.file_id} in partition {stat.partition!r}"
                raise self._error(commit, slice_name, cleaned=bool(self._cleaned.get(stat.group)))
            if begin != previous:
                self.not_cleaned(commit, stat.group, before, after)

    def whole(self, commit: Instant, group: GroupId, file_slice: FileSlice | None, timeline: Timeline) -> None:
        """Raises CorruptFileError for a file of the slice that has another size than its commit says, and ChangeRangeError or
        MissingFileError for a file that a commit of the timeline wrote to it, or after it. Without their rows inserts would be in
        place of updates."""
        paths = file_slice.paths if file_slice is not None else ()
        check_sizes(self.state, [self._resized[path] for path in paths if path in self._resized])
        base = file_slice.base_file if file_slice is not None else None
        begin = base.instant if base is not None else BEGINNING  # without its base file a slice begins with its logs
        for lost in self._lost.get(group, ()):
            place = log_place(self.state, lost) if lost.name.startswith(".") else lost.instant.time
            if lost.instant.time in timeline.commit_times and begin <= place:
                raise self._error(commit, lost.name, cleaned=lost.name in self._cleaned.get(group, ()))

    def not_cleaned(
        self, commit: Instant, group: GroupId, before: FileSlice | None, after: FileSlice | None = None
    ) -> None:
        """Raises ChangeRangeError when a clean took files of the slice before the commit, or of one between them."""
        slice_files, begin = _names(before) | _names(after), before.base_instant if before is not None else ""
        for name, time in self._cleaned.get(group, {}).items():
            if begin <= time <= commit.time and name not in slice_files:
                raise self._error(commit, name, cleaned=True)

    @cached_property
    def _written(self) -> Sequence[tuple[Instant, Written]]:
        """The files that each commit wrote."""
        commits = self.state.timeline.commits
        partitions = [file.partition for file in self.files]
        return list(zip(commits, written_files(self.state, commits, partitions), strict=True))

    @cached_property
    def _resized(self) -> Mapping[str, tuple[ExpectedFile, int]]:
        """Files by path that have not the size which their commit says, and the bytes that they have."""
        return {file.path: (file, size) for file, size in resized(self.state, self.files, self._written)}

    @cached_property
    def _lost(self) -> Mapping[GroupId, Sequence[ExpectedFile]]:
        """The files that commits wrote and that are not there: lost, or cleaned with their slice."""
        lost: defaultdict[GroupId, list[ExpectedFile]] = defaultdict(list)
        names = {file.partition: {data.info.name for data in file.files} for file in self.files}
        for instant, written in self._written:
            for partition in names.keys() & written.keys():
                for name, size in written[partition].items():
                    if name not in names[partition] and size != LISTED:
                        file = ExpectedFile(partition, name, instant)
                        lost[file.group].append(file)
        return lost

    @cached_property
    def _now(self) -> TableState:
        return self.state.reloaded() or self.state

    @property
    def _pending(self) -> Sequence[Instant]:
        return [instant for instant in self._now.timeline.pending if instant.action is Action.CLEAN]

    @cached_property
    def _at_work(self) -> bool:
        """True if a clean may have removed some files of a slice before the listing, and others not."""
        clean_times = {instant.time for instant in self.state.timeline.completed(Action.CLEAN)}
        completed = self._now.timeline.completed(Action.CLEAN)
        return bool(self._pending) or any(result.time not in clean_times for result in completed)

    @cached_property
    def _cleaned(self) -> Mapping[GroupId, Mapping[str, Time]]:
        """File group -> names of files that cleans removed or are about to remove, each with the time in the name."""
        earliest: defaultdict[GroupId, dict[str, Time]] = defaultdict(dict)
        for partition, name in self._removed():
            base, log = BaseFileName.parse(name), LogFileName.parse(name)
            if base is not None:
                earliest[GroupId(partition, base.file_id)][name] = base.instant
            elif log is not None and not log.is_cdc:
                earliest[GroupId(partition, log.file_id)][name] = log.time
        return earliest

    def _removed(self) -> Iterator[tuple[str, str]]:
        """Partition and name of each file that was cleaned."""
        for _, result in cleans_after(self._now, self.first):
            for partition, names in result.deleted.items():
                yield from ((partition, name) for name in names)
        for clean in self._pending:
            path = self.state.layout.requested_path(clean.time, clean.action)
            try:
                plan = decode_clean_plan(self.state.storage.read(path), path, lambda path: path)
            except (FileNotFoundError, CorruptTableError):  # it has ended, or its plan is torn and never carried out
                continue
            yield from ((file.partition, file.path.rpartition("/")[2]) for file in plan.files)

    def _error(self, commit: Instant, name: str, *, cleaned: bool) -> HoodieError:
        table = self.state.storage.base_path
        if not cleaned:
            return MissingFileError(
                f"A file of table {table} is missing",
                found=f"{name}, needed by the changes of {self.state.where(commit)}",
                fix="restore it from a copy; nothing was changed",
            )
        return ChangeRangeError(
            f"The changes of commit {commit.time} of table {table} cannot be read any more",
            found=f"{name} was cleaned",
            fix="read a snapshot and go on from its last commit, or start at a later commit. A clean that retains more commits "
            "(hoodie.clean.commits.retained) keeps longer ranges",
        )


def _names(file_slice: FileSlice | None) -> frozenset[str]:
    return frozenset(path.rpartition("/")[2] for path in file_slice.paths) if file_slice is not None else frozenset()

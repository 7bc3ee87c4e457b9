"""File groups and slices of a table, by its timeline and one listing (format notes, section 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hoodie.cache import cached_property
from hoodie.model.files import FileGroup, FileSlice, GroupId
from hoodie.model.time import Time
from hoodie.timeline import Instant
from hoodie.view.archive_files import check_archived
from hoodie.view.files import Choice, ChosenFiles, PartitionFiles
from hoodie.view.missing_files import check_files, chosen_partitions, refuse_unmarked
from hoodie.view.pending_groups import PendingGroups
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.slices import file_groups, latest_slices
from hoodie.view.sources import with_sources
from hoodie.view.state import TableState
from hoodie.view.strays import archived_strays


@dataclass(frozen=True)
class TableView:
    """A table, or some of its partitions, now or in the past.

    Files are listed when they are first asked for, and then no more: after a change make a new view.
    """

    state: TableState
    partitions: Sequence[str] | None = None  # that are looked at; None: all that are found
    choice: Choice | None = None  # those of them that are wanted; None: each
    as_of: Time | None = None  # instant; None: now

    @cached_property
    def files(self) -> Sequence[PartitionFiles]:
        """The data files, committed or not, by partition; skeletons with their sources. Raises CorruptTableError."""
        return with_sources(self._chosen_files.files, self.state)

    @property
    def left_out(self) -> Sequence[str]:
        """The folders that the choice ruled out, each of a partition or of several."""
        return self._chosen_files.left_out

    @cached_property
    def groups(self) -> Sequence[FileGroup]:
        """The file groups with all their committed slices, replaced groups too.

        Before the active timeline they have no file that an archived commit does not name: a newer one that hides it now does not
        hide it then. Raises what `file_groups` raises, and CorruptTableError for an archive that cannot be read.
        """
        files, start = self.files, self.state.timeline.start
        if self.as_of is not None and start is not None and self.as_of < start:
            strays = {file.info.path for file in archived_strays(files, self.state)}
            files = [group.without(strays) for group in files]
        return file_groups(files, self.state, self._expected())

    @cached_property
    def replaced(self) -> Mapping[GroupId, Instant]:
        """Groups of the whole table that were replaced in this state -> the replacecommit that did it."""
        return replaced_groups(self.state, self.as_of)

    @cached_property
    def busy(self) -> PendingGroups:
        """Groups of the whole table that pending services are about to change."""
        return PendingGroups(self.state)

    @cached_property
    def slices(self) -> Sequence[FileSlice]:
        """The newest slice of each group that is not replaced, as it is found: see `latest`."""
        return latest_slices(self.groups, self.replaced, self.as_of)

    def latest(self) -> Sequence[FileSlice]:
        """`slices`, none of which lacks a file. Raises what `check` raises."""
        self.check()
        return self.slices

    def check(self, partitions: Collection[str] | None = None) -> None:
        """Raises MissingFileError, or TimeTravelError, when a file that should be in a slice is not, and CorruptFileError when
        one was cut short (see `check_files`).

        Only of the named `partitions`, which were looked at; None: of all of them, and of those that are not found. Files of
        archived commits count if `as_of` is before the active timeline (see `check_archived`).
        """
        check_files(self.state, self.slices, self._expected() if partitions is None else partitions, self.as_of)
        if partitions is None:
            refuse_unmarked(self.state, self._chosen_files.unmarked)
            if self.as_of is not None and not self.state.timeline.covers(self.as_of):
                self.check_archived()

    def check_archived(self, commits: Sequence[Instant] | None = None) -> None:
        """Raises what `check` raises, for files of these archived commits (see `check_archived`)."""
        check_archived(self.state, self.slices, self._chosen, self.as_of, commits)

    def _chosen(self, partitions: Collection[str]) -> Sequence[str]:
        """Those of the partitions that are looked at."""
        named = partitions if self.partitions is None else set(self.partitions).intersection(partitions)
        return sorted(named) if self.choice is None else self.choice.partitions(sorted(named))

    def _expected(self) -> Sequence[str] | None:
        """The partitions in which files should be; None: in all."""
        if self.choice is None:
            return self.partitions
        if self.partitions is None:
            return chosen_partitions(self.state, self._chosen_files, self.choice)
        # All that are wanted were listed, be they there or not.
        return [file.partition for file in self._chosen_files.files]

    @cached_property
    def _chosen_files(self) -> ChosenFiles:
        return self.state.files.chosen(self.choice, self.partitions)

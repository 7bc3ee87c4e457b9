"""Placement of the rows of a write in a table as it is: the facts that `assign` needs (format notes, sections 4.1 and 6)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hoodie.errors import PendingInstantError
from hoodie.index.buckets import bucket_of
from hoodie.model.commit import CommitMetadata
from hoodie.model.files import FileSlice
from hoodie.model.names import METADATA_BOOTSTRAP, LogFileName
from hoodie.model.time import Time
from hoodie.view import PendingGroups, TableState
from hoodie.write.assign import assign, average_record_bytes
from hoodie.write.plan import WritePlan
from hoodie.write.worker.assignment import Assignment, FileTask
from hoodie.write.worker.stages import WorkloadProfile


@dataclass(frozen=True)
class Placement:
    """The files of one write: `instant` is its time."""

    state: TableState
    plan: WritePlan
    instant: Time
    busy: PendingGroups

    def assign(
        self,
        profile: WorkloadProfile,
        slices: Sequence[FileSlice],
        input_bytes: int,
        home: Callable[[int], tuple[str, str]] | None = None,
    ) -> Assignment:
        """The file of every row; `input_bytes` is the size of the input, 0 if it is unknown. `home` returns partition and file id
        of a file group whose number is past those of `slices`, if rows have such.

        Raises PendingInstantError for an update of a group that waits for clustering.
        """
        self._refuse_clustered(slices[number] for number in profile.updates if number < len(slices))

        def new_group(number: int) -> FileTask:
            assert home is not None, "only buckets are known before they are there"
            partition, file_id = home(number)
            begins = FileSlice(partition, file_id, self.instant, None)
            return FileTask(partition, file_id, begins if self.plan.appends else None)

        sizing = self.plan.sizing
        return assign(
            profile.updates,
            profile.inserts,
            slices,
            self._must_not_grow,
            average_record_bytes(self._sized_commits() if profile.inserts else (), sizing),
            sizing if self.plan.operation.packs else replace(sizing, small_file_bytes=0),
            new_file_id,
            new_group,
            self._log_name if self.state.properties.is_merge_on_read else None,
            input_bytes // max(1, profile.updates.total() + profile.inserts.total()),
        )

    def _must_not_grow(self, file_slice: FileSlice) -> bool:
        """To grow a slice is to rewrite its base file: its logs would be lost, a planned compaction misled, and of a skeleton
        all rows of its source copied."""
        base = file_slice.base_file
        only_base = base is not None and base.source is None and not file_slice.log_files
        return not only_base or file_slice.group in self.busy.clustering or file_slice.group in self.busy.compacting

    def _sized_commits(self) -> Iterator[CommitMetadata]:
        """Commits with their sizes, the newest first. Their bodies are large in tables of many files: few are read."""
        for instant in reversed(self.state.timeline.commits):
            if instant.time != METADATA_BOOTSTRAP:
                yield self.state.commit_metadata(instant)

    def _log_name(self, file_slice: FileSlice) -> LogFileName:
        compaction = self.busy.compacting.get(file_slice.group)
        return self.state.layout.next_log(file_slice, self.instant, compaction.time if compaction is not None else None)

    def _refuse_clustered(self, touched: Iterable[FileSlice]) -> None:
        for file_slice in touched:
            instant = self.busy.clustering.get(file_slice.group)
            if instant is not None:
                raise PendingInstantError(
                    f"File group {file_slice.file_id} of partition {file_slice.partition!r} waits for clustering",
                    found=f"pending {self.state.where(instant)}",
                    fix=f"nothing was written; carry that clustering out, `hudi-services cluster --mode execute --instant "
                    f"{instant.time}`, or give it up, `hudi-services cluster --give-up {instant.time}`; then write again",
                )


def new_file_id() -> str:
    """A fresh file id, `<uuid>-0`, that cannot be taken for one of a bucket."""
    while bucket_of(file_id := f"{uuid.uuid4()}-0") is not None:
        pass
    return file_id

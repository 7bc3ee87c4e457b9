"""From files and the timeline to file groups and slices. Pure (format notes, section 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hoodie.model.files import BaseFile, FileGroup, FileSlice
from hoodie.timeline import Timeline, pad
from hoodie.view.partitions import PartitionFiles

GroupId = tuple[str, str]
"""Partition path and file id."""


def file_groups(files: Iterable[PartitionFiles], timeline: Timeline) -> list[FileGroup]:
    """The file groups of base files, each with its committed slices, newest first. Groups without one are left out.

    Files of pending or failed instants are ignored. Change-data logs are not part of a slice.
    """
    groups: list[FileGroup] = []
    for partition in files:
        by_id: dict[str, list[BaseFile]] = {}
        for file in partition.base_files:
            if timeline.is_committed(file.instant):
                by_id.setdefault(file.file_id, []).append(file)
        for file_id, versions in sorted(by_id.items()):
            versions.sort(key=lambda file: (pad(file.instant), file.name), reverse=True)
            slices = tuple(FileSlice(partition.partition, file_id, file.instant, file) for file in versions)
            groups.append(FileGroup(partition.partition, file_id, slices))
    return groups


def latest_slices(
    groups: Iterable[FileGroup], replaced: Collection[GroupId] = (), as_of: str | None = None
) -> list[FileSlice]:
    """The newest slice of each group that is not replaced, or the newest one not later than `as_of`."""
    result = []
    for group in groups:
        if (group.partition, group.file_id) in replaced:
            continue
        for file_slice in group.slices:
            if as_of is None or pad(file_slice.base_instant) <= pad(as_of):
                result.append(file_slice)
                break
    return result

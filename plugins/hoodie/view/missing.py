"""Logs whose base file is not there, although a commit wrote one (format notes, section 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hoodie.errors import MissingFileError
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.names import BaseFileName
from hoodie.timeline import Instant, pad
from hoodie.view.slices import GroupId
from hoodie.view.state import TableState


def check_bases(state: TableState, slices: Iterable[FileSlice]) -> None:
    """Raises MissingFileError for logs without the base file that they were written on: alone they are not the rows.

    Logs may well have none: some of Hudi's indexes insert into logs, so that a group begins with one. The commit of the first
    log tells that by its inserts. Only else are the commits before it read, as far as they are in the active timeline.
    """
    alone = {(s.partition, s.file_id): s.base_instant for s in slices if s.base_file is None}
    if not alone:
        return
    times = set(alone.values())
    for instant in state.timeline.commits:
        if instant.time not in times:
            continue
        for stat in state.commit_metadata(instant).stats:
            group = (stat.partition, stat.file_id)
            if alone.get(group) == instant.time:
                if _is_base(stat):  # in table version 6 logs carry the instant of their base file
                    raise _missing(state, stat, instant)
                if stat.num_inserts:
                    del alone[group]
    for stat, instant in _written(state, alone):
        if pad(instant.time) <= pad(alone[stat.partition, stat.file_id]):  # not the file that a compaction made later
            raise _missing(state, stat, instant)


def check_groups(state: TableState, groups: Collection[GroupId]) -> None:
    """Raises MissingFileError when any commit of the active timeline wrote a base file of one of these groups."""
    for stat, instant in _written(state, groups):
        raise _missing(state, stat, instant)


def _written(state: TableState, groups: Collection[GroupId]) -> Iterator[tuple[WriteStat, Instant]]:
    """The base files of these groups, by the commits of the active timeline; for no groups nothing is read."""
    for instant in state.timeline.commits if groups else ():
        for stat in state.commit_metadata(instant).stats:
            if (stat.partition, stat.file_id) in groups and _is_base(stat):
                yield stat, instant


def _is_base(stat: WriteStat) -> bool:
    return BaseFileName.parse(stat.path.rpartition("/")[2]) is not None


def _missing(state: TableState, stat: WriteStat, instant: Instant) -> MissingFileError:
    return MissingFileError(
        f"The base file of logs of table {state.storage.base_path} is missing",
        found=f"{stat.path}, which {state.where(instant)} wrote",
        fix="restore it from a copy; nothing was changed",
    )

"""Data files with the instant of a completed commit that does not name them: lost or repeated attempts have left them.

They are not part of the table. Hudi's Spark and Flink writers leave such files when a task outlives its commit.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.model.files import BaseFile, LogFile
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.timeline.codecs.commit_files import Written, written_by
from hoodie.view.committed_files import written_files
from hoodie.view.files import PartitionFiles
from hoodie.view.state import TableState

_log = logging.getLogger(__name__)

_BOOTSTRAPS = frozenset({METADATA_BOOTSTRAP, FULL_BOOTSTRAP})
_File = BaseFile | LogFile


def stray_paths(
    files: Collection[PartitionFiles], state: TableState, partitions: Collection[str] | None = None
) -> frozenset[str]:
    """Paths of those of `files` that the completed commit in their name does not name.

    A file whose commit cannot be read counts as named. An archived commit is read only if a file group has two base files of it.
    `partitions`, those of `files` among them, are where bodies of commits are looked at; None: everywhere. Raises
    MissingFileError for a commit that is gone.
    """
    return frozenset(file.info.path for file in (*_of_timeline(files, state, partitions), *_of_archive(files, state)))


def archived_strays(files: Iterable[PartitionFiles], state: TableState) -> Iterator[_File]:
    """Those that the archived commit in their name does not name; logs where names are those of their writers.

    Reads the bodies of all archived commits that have files. Raises CorruptTableError or MissingFileError for an archive that
    cannot be read.
    """
    recent = state.timeline.commit_times | _BOOTSTRAPS
    by_time = {
        t: names for t, names in _by_time(files, state).items() if t not in recent and state.timeline.is_committed(t)
    }
    logs: list[LogFile] = []
    for time, (_, named) in (archived_files(state, by_time) if by_time else {}).items():
        for file in _unnamed(by_time[time], named or None):
            if isinstance(file, BaseFile):
                yield file
            else:
                logs.append(file)
    if logs:
        yield from _of_no_archived_commit(logs, state)


def _by_time(files: Iterable[PartitionFiles], state: TableState) -> Mapping[Time, list[_File]]:
    """The files that are named for the instant that wrote them, by that instant."""
    by_time: defaultdict[Time, list[_File]] = defaultdict(list)
    for file in files:
        for base in file.base_files:
            by_time[base.instant].append(base)
        for log in file.log_files if state.layout.logs_tell_writer else ():
            if not log.is_cdc:
                by_time[log.time].append(log)
    return by_time


def _of_timeline(
    files: Iterable[PartitionFiles], state: TableState, partitions: Collection[str] | None
) -> Iterator[_File]:
    by_time = _by_time(files, state)
    commits = [commit for commit in state.timeline.commits if commit.time in by_time and commit.time not in _BOOTSTRAPS]
    logs: list[LogFile] = []
    for commit, written in zip(commits, written_files(state, commits, partitions), strict=True):
        unnamed = _unnamed(by_time[commit.time], written)
        for file in _unnamed(unnamed, _written_by(state, commit)) if unnamed else ():
            if isinstance(file, BaseFile):
                yield file
            else:
                logs.append(file)
    if logs:
        yield from _of_no_commit(logs, state, partitions)


def _unnamed(files: Iterable[_File], written: Written | None) -> list[_File]:
    """Those of one instant that it does not name; of an instant that cannot be read none."""
    if written is None:
        return []
    return [file for file in files if file.info.name not in written.get(file.partition, ())]


def _written_by(state: TableState, commit: Instant) -> Written | None:
    """All files that a commit names; None where its body cannot be read, or names no file at all: then it says nothing of those
    that are there."""
    (written,) = written_files(state, [commit])
    if written:
        return written
    try:
        return written_by(state.commit_metadata(commit), commit.time) or None
    except CorruptTableError:  # `written_files` has logged it
        return None


def _of_no_commit(logs: Iterable[LogFile], state: TableState, partitions: Collection[str] | None) -> Iterator[LogFile]:
    """Those that no commit of the timeline names.

    A log from before the table's upgrade to version 8 has the instant of its slice, and other commits name it.
    """
    written = written_files(state, state.timeline.commits, partitions)
    for log in logs:
        named = any(log.info.name in names.get(log.partition, ()) for names in written)
        if not named and state.timeline.covers(log.time):
            yield log


def _of_no_archived_commit(logs: Sequence[LogFile], state: TableState) -> Iterator[LogFile]:
    """Those that no commit names, archived or not: a log from before the table's upgrade to version 8 has the instant of its
    slice, and other commits name it."""
    active = state.timeline.commit_times
    archived = (i for i in state.archive.instants(after=min(log.time for log in logs)) if i.time not in active)
    commits = [*(i for i in archived if i.action in WRITE_ACTIONS), *state.timeline.commits]
    left = {(log.partition, log.info.name): log for log in logs}
    for commit in commits:
        for partition, names in written_by(state.commit_metadata(commit), commit.time).items():
            for name in names:
                left.pop((partition, name), None)
    yield from left.values()


def _of_archive(files: Iterable[PartitionFiles], state: TableState) -> Iterator[_File]:
    rivals = list(_rivals(files, state))
    if not rivals:
        return
    try:
        named = archived_files(state, {base.instant for bases in rivals for base in bases})
    except (CorruptTableError, MissingFileError) as error:
        _log.warning("%s; which of two base files of a file group was committed is not known", error)
        return
    for bases in rivals:
        unnamed = _unnamed(bases, named[bases[0].instant][1] if bases[0].instant in named else None)
        if len(unnamed) < len(bases):
            yield from unnamed


def _rivals(files: Iterable[PartitionFiles], state: TableState) -> Iterator[Sequence[BaseFile]]:
    """Base files of one file group and one archived instant, where these are several."""
    for file in files:
        if len({(base.file_id, base.instant) for base in file.base_files}) == len(file.base_files):
            continue
        together: defaultdict[tuple[str, Time], list[BaseFile]] = defaultdict(list)
        for base in file.base_files:
            together[base.file_id, base.instant].append(base)
        for (_, time), bases in together.items():
            old = time not in state.timeline.commit_times and time not in _BOOTSTRAPS
            if len(bases) > 1 and old and state.timeline.is_committed(time):
                yield bases


def archived_files(state: TableState, times: Collection[Time]) -> Mapping[Time, tuple[Instant, Written]]:
    """Return those of these instants that are archived writes, with the files that they name.

    Raises CorruptTableError or MissingFileError for an archive that cannot be read.
    """
    before = min(times)[:-1]  # text that is less than any time which begins with it
    instants = state.archive.instants(Time.of(before), max(times))
    return {
        instant.time: (instant, written_by(state.commit_metadata(instant), instant.time))
        for instant in instants
        if instant.time in times and instant.action in WRITE_ACTIONS
    }

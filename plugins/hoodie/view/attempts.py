"""Log blocks of table version 6 that a lost attempt of a completed commit has left.

The name of such a log has the instant of its slice. Its blocks name the commit that wrote them, which does not name the log.
Hudi 0.15.0 and 1.2.0 read the block all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from hoodie.errors import CorruptTableError, MissingFileError, UnsupportedTableError
from hoodie.formats.log import scan_blocks
from hoodie.model.files import LogFile
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import Instant
from hoodie.view.committed_files import written_files
from hoodie.view.files import PartitionFiles
from hoodie.view.state import TableState


def with_foreign(
    files: Collection[PartitionFiles], state: TableState, partitions: Collection[str] | None = None
) -> Sequence[PartitionFiles]:
    """`files`, whose logs know the commits that did not write them (`LogFile.foreign`).

    Those are known only of a log that is the path of no write stat, and is not older than the active timeline. Hudi's rollbacks
    and Flink leave such logs, too: Flink lists them beside the path. `partitions`, those of `files` among them, are where bodies
    of commits are looked at; None: everywhere. Raises MissingFileError for a commit that is gone.
    """
    logs = list(_unnamed(files, state, partitions))
    if not logs:
        return tuple(files)
    names_of_commit = {
        commit.time: names for commit in state.timeline.commits if (names := _names_of_commit(state, commit))
    }
    foreign = {log.path: frozenset(t for t, names in names_of_commit.items() if log.path not in names) for log in logs}

    def tagged(log: LogFile) -> LogFile:
        return replace(log, foreign=foreign[log.path]) if log.path in foreign else log

    return [replace(file, log_files=tuple(map(tagged, file.log_files))) for file in files]


def lost_by(storage: Storage, log: LogFile) -> frozenset[Time]:
    """The commits of which lost attempts have left the blocks of a log. Nothing if any block has another instant, or is torn.

    Reads the log's headers if it has foreign commits.
    """
    try:
        instants = {block.instant for block in scan_blocks(storage, log.path)} if log.foreign else set[Time]()
    except (CorruptTableError, MissingFileError, UnsupportedTableError):
        return frozenset()
    return frozenset(instants) if instants <= log.foreign else frozenset()


def _unnamed(
    files: Collection[PartitionFiles], state: TableState, partitions: Collection[str] | None
) -> Iterator[LogFile]:
    logs = [log for file in files for log in file.log_files if not log.is_cdc]
    if state.layout.logs_tell_writer or not logs:
        return
    named: defaultdict[str, set[str]] = defaultdict(set)
    for written in written_files(state, state.timeline.commits, partitions):
        for partition, names in written.items():
            named[partition].update(names)
    covered: dict[Time, bool] = {}
    for log in logs:
        if log.info.name not in named[log.partition]:
            if log.time not in covered:
                covered[log.time] = state.timeline.covers(log.time)
            if covered[log.time]:
                yield log


def _names_of_commit(state: TableState, commit: Instant) -> frozenset[str]:
    """Paths of the files that a commit wrote, and of the logs that its stats list beside them.

    Nothing for one that cannot be read: then every log may be its own.
    """
    try:
        stats = state.commit_metadata(commit).stats
    except CorruptTableError:  # `written_files` has logged it
        return frozenset()
    beside = (
        f"{stat.path.rpartition('/')[0]}/{name}".lstrip("/")
        for stat in stats
        if stat.log is not None
        for name in stat.log.log_files
    )
    return frozenset([*(path for stat in stats for path in stat.paths), *beside])

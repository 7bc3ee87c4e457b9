"""Numbers of rows in base files and logs: as the commits that wrote them count; if these do not, by footers. No row is
read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile

from hoodie.formats.bootstrap_file import open_file
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hudi_services.operations.inspect.history import read_once
from hudi_services.operations.inspect.table_look import Look

_READERS = 16  # files are waited for, not worked on
_COPIES = "LOG_COMPACT"  # an operation whose logs repeat what others of the slice hold


@dataclass(frozen=True)
class RowCounts:
    """Row counts of some file slices, by path: rows of base files, and rows and deletions in logs, to be laid over
    these."""

    base: Mapping[str, int]
    written: Mapping[str, int]
    deleted: Mapping[str, int]

    def of(self, slices: Iterable[FileSlice]) -> dict[str, int]:
        """The counts of some of the slices. A row that two commits wrote to logs counts twice there."""
        counts: Counter[str] = Counter(rows=0, log_rows=0, log_deletions=0)
        for file_slice in slices:
            counts["rows"] += self.base[file_slice.base_file.path] if file_slice.base_file is not None else 0
            counts["log_rows"] += sum(self.written.get(log.path, 0) for log in file_slice.log_files)
            counts["log_deletions"] += sum(self.deleted.get(log.path, 0) for log in file_slice.log_files)
        return dict(counts)


def row_counts(look: Look, slices: Collection[FileSlice]) -> RowCounts:
    """A read for each commit that wrote some of the files, one more for a base file of an archived one. The archive is looked
    into for logs that are older than the active timeline.

    Raises CorruptTableError for a torn commit, CorruptFileError or MissingFileError for a file that is.
    """
    files = [file_slice.base_file for file_slice in slices if file_slice.base_file is not None]
    paths = {file.path for file in files} | {log.path for file_slice in slices for log in file_slice.log_files}
    base: dict[str, int] = {}
    written, deleted = Counter[str](), Counter[str]()

    def stats_of(instant: Instant) -> list[WriteStat]:
        metadata = read_once(look, instant)
        result = [stat for stat in metadata.stats if stat.path in paths]
        return [stat for stat in result if stat.log is None] if metadata.operation == _COPIES else result

    def keep(stats: Iterable[WriteStat]) -> None:
        for stat in stats:
            if stat.log is not None:
                written[stat.path] += stat.num_writes
                deleted[stat.path] += stat.num_deletes
            elif stat.num_writes:
                base[stat.path] = stat.num_writes

    def footer(path: str) -> int:
        with open_file(look.storage, path) as reader:
            return reader.rows

    appenders = _Appenders.of(slices)
    writers = {file.instant for file in files}
    active = [commit for commit in look.state.timeline.commits if commit.time in writers or appenders.has(commit)]
    with ThreadPoolExecutor(_READERS) as pool:
        for stats in pool.map(stats_of, active):
            keep(stats)
        for instant in appenders.archived(look):  # one after the other: the archive remembers the file read last
            keep(stat for stat in stats_of(instant) if stat.log is not None)
        unknown = sorted({file.path for file in files} - base.keys())
        base.update(zip(unknown, pool.map(footer, unknown), strict=True))
    return RowCounts(base, written, deleted)


@dataclass(frozen=True)
class _Appenders:
    """The commits that may have written logs of some slices: those that name them, and where logs are named after their base
    file, each from `since` on."""

    times: frozenset[Time]
    since: Time | None

    @classmethod
    def of(cls, slices: Collection[FileSlice]) -> _Appenders:
        logs = [(log.time, file_slice.base_instant) for file_slice in slices for log in file_slice.log_files]
        after_base = [time for time, base in logs if time == base]
        return cls(frozenset(time for time, _ in logs), min(after_base, default=None))

    def has(self, instant: Instant) -> bool:
        named = instant.time in self.times
        later = self.since is not None and instant.time >= self.since
        return named or (later and instant.action.completed_as is Action.DELTA_COMMIT)

    def archived(self, look: Look) -> Iterator[Instant]:
        """The instants that are not on the active timeline any more."""
        oldest = min(self.times, default=None)
        if oldest is None or look.state.timeline.covers(oldest):
            return
        known = look.state.timeline.commit_times
        for instant in takewhile(lambda instant: instant.time >= oldest, look.state.archive.newest()):
            if instant.action in WRITE_ACTIONS and instant.time not in known and self.has(instant):
                yield instant

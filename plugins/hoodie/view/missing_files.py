"""Data files that commits of the active timeline wrote, that make up the table, and that are not there, cut short, or not
the ones that were written.

Without this check older rows would come back, deleted ones too, and the next write would build on them.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hoodie.errors import (
    CorruptFileError,
    CorruptTableError,
    MissingFileError,
    TimeTravelError,
    UnsupportedTableError,
)
from hoodie.model.files import BaseFile, FileSlice, GroupId, LogFile, instant_of
from hoodie.model.names import EXTERNAL, PARTITION_METAFILE, LogFileName
from hoodie.model.time import BEGINNING, Time
from hoodie.storage.base import join
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.clean import decode_clean_plan
from hoodie.timeline.codecs.commit_files import LISTED, Written
from hoodie.view.committed_files import written_files, written_partitions
from hoodie.view.file_ends import whole_files
from hoodie.view.files import Choice, ChosenFiles, PartitionFiles
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.state import TableState
from hoodie.view.strays import archived_files

_log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """A file that a commit wrote and that should be in a slice."""

    partition: str
    name: str
    instant: Instant
    size: int = 0  # bytes that its commit says, which a log may exceed; 0 where it says nothing

    @property
    def path(self) -> str:
        return join(self.partition, self.name)

    @property
    def group(self) -> GroupId:
        return GroupId(self.partition, _file_id(self.name))

    @property
    def is_log(self) -> bool:
        return self.name.startswith(".")


def check_files(
    state: TableState,
    slices: Sequence[FileSlice],
    partitions: Collection[str] | None = None,
    as_of: Time | None = None,
) -> None:
    """Raises MissingFileError when a file that should be in one of the slices is not, and CorruptFileError when one has
    another size than its commit says. Raises UnsupportedTableError for files that Hudi did not write.

    `slices` are the latest ones, now or at the instant `as_of`, of the named partitions or of the whole table (None), as a
    listing found them. Each group must have the newest base file that a commit of the active timeline wrote, or a newer one, and
    every log that came after it; but for groups that were replaced. Raises TimeTravelError for a file that a clean has taken, or
    is about to take, from a slice of the past.
    """
    refuse_absent(state, absent_files(state, slices, partitions, as_of), slices, as_of)
    check_sizes(state, resized_files(state, slices, partitions, as_of))


def refuse_absent(
    state: TableState, absent: Sequence[ExpectedFile], slices: Iterable[FileSlice], as_of: Time | None
) -> None:
    """Raises what `check_files` raises for files that should be in one of the slices and are not."""
    refuse_external(state, absent)
    missing = [file for file in absent if state.storage.info(file.path) is None]
    if missing:
        raise _missing(state, missing, as_of)
    current_partitions = {file_slice.partition for file_slice in slices}
    unseen = next((file for file in absent if file.partition not in current_partitions), None)
    if unseen is not None:
        raise _unseen(state, unseen)


def refuse_unmarked(state: TableState, unmarked: Sequence[PartitionFiles]) -> None:
    """Raises MissingFileError for a folder without a partition metafile in which an archived commit wrote: no reader finds its
    rows. `check_files` has those of active commits. `unmarked` are folders with data files and without a metafile.

    An archive that cannot be read is logged.
    """
    try:
        unseen = next(iter(archived_partitions(state, unmarked)), None)
    except (CorruptTableError, MissingFileError) as error:
        _log.warning("%s; whether folders without %s are partitions is not known", error, PARTITION_METAFILE)
        return
    if unseen is not None:
        raise _unseen(state, unseen)


def archived_partitions(state: TableState, unmarked: Sequence[PartitionFiles]) -> Iterator[ExpectedFile]:
    """Yield the files in folders without a metafile that archived commits wrote to them. A folder without such a file is a copy.

    The archive is read only if a file is named for an archived commit. Raises CorruptTableError or MissingFileError.
    """
    active = state.timeline.commit_times
    times = {file.path: instant_of(file) for g in unmarked for file in g.files}
    times = {path: t for path, t in times.items() if t not in active and state.timeline.is_committed(t)}
    if not times:
        return
    replaced = replaced_groups(state)
    for instant, written in archived_files(state, frozenset(times.values())).values():
        for group in unmarked:
            for name in written.get(group.partition, ()):
                file = ExpectedFile(group.partition, name, instant)
                if file.path in times and file.group not in replaced:
                    yield file


def _unseen(state: TableState, file: ExpectedFile) -> MissingFileError:
    return MissingFileError(
        f"Partition {file.partition!r} of table {state.storage.base_path} is not found by listing",
        found=f"{file.path}, which {state.where(file.instant)} wrote, in a folder without {PARTITION_METAFILE}, or below "
        "a folder that has one",
        fix=f"run `hudi-services doctor --fix`, which writes {PARTITION_METAFILE} of that folder; nothing was changed",
    )


def refuse_external(state: TableState, absent: Iterable[ExpectedFile]) -> None:
    """Raises UnsupportedTableError when files that no listing finds were written by another program, as those of XTable."""
    external = next((file for file in absent if file.name.endswith(EXTERNAL)), None)
    if external is not None:
        raise UnsupportedTableError(
            f"Table {state.storage.base_path} is made of files that Hudi did not write",
            found=f"{external.path}, which {state.where(external.instant)} names: Apache XTable adds such files to a table",
            fix="read it as the table that it was made from, or with Hudi on Spark and hoodie.metadata.enable=true",
        )


def absent_files(
    state: TableState,
    slices: Sequence[FileSlice],
    partitions: Collection[str] | None = None,
    as_of: Time | None = None,
) -> list[ExpectedFile]:
    """Files that should be in one of the slices and are not (see `check_files`), be they on the storage or not."""
    commits = state.timeline.commits
    written = zip(commits, written_files(state, commits, partitions), strict=True)
    absent = absent_of(state, slices, written, partitions, as_of)
    replaced = replaced_groups(state, as_of) if absent else {}
    return [file for file in absent if file.group not in replaced]


def resized_files(
    state: TableState,
    slices: Iterable[FileSlice],
    partitions: Collection[str] | None = None,
    as_of: Time | None = None,
) -> list[tuple[ExpectedFile, int]]:
    """Files of the slices that have fewer bytes than a commit of the active timeline says, not later than `as_of`, or base files
    that have more, and how many they have.

    A listing gives the sizes, so this reads bodies of commits only, and those once a process (see `written_files`). The end of a
    file that seems short is read, too: it may be whole all the same (see `whole_files`).
    """
    commits = [commit for commit in state.timeline.commits if as_of is None or commit.time <= as_of]
    return resized(state, slices, zip(commits, written_files(state, commits, partitions), strict=True))


class HasFiles(Protocol):
    """A file slice, or the files of a partition."""

    @property
    def partition(self) -> str:
        """The partition path."""
        ...

    @property
    def files(self) -> Sequence[BaseFile | LogFile]:
        """The data files."""
        ...


def resized(
    state: TableState, slices: Iterable[HasFiles], commits: Iterable[tuple[Instant, Written]]
) -> list[tuple[ExpectedFile, int]]:
    """Files of slices, or of partitions, that have not the size which one of `commits` says. See `resized_files`."""
    sizes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for file_slice in slices:
        sizes[file_slice.partition].update((file.info.name, file.info.size) for file in file_slice.files)
    result: dict[str, tuple[ExpectedFile, int]] = {}
    for instant, written in commits:
        for partition in sizes.keys() & written.keys():
            listed_sizes = sizes[partition]
            for name, size in written[partition].items():
                listed_size = listed_sizes.get(name, size)
                if listed_size != size and _differs(listed_size, size, name):
                    result[join(partition, name)] = ExpectedFile(partition, name, instant, size), listed_size
    unsure = [
        (path, size, file.instant.time)
        for path, (file, size) in result.items()
        if size < file.size and not _is_exact(state, file)
    ]
    whole_paths = whole_files(state.storage, unsure)
    return [file for path, file in result.items() if path not in whole_paths]


def _differs(size: int, written: int, name: str) -> bool:
    """True if a file of `size` bytes is not what its commit wrote. Other writes may have appended to a log, never to a base
    file."""
    return size < written or (size > written > 0 and not name.startswith("."))


def _is_exact(state: TableState, file: ExpectedFile) -> bool:
    """True for a log that one write made at once, as each is since table version 8: its size is not a sum."""
    log = LogFileName.parse(file.name)
    return log is not None and state.layout.logs_tell_writer and log.time == file.instant.time


def check_sizes(state: TableState, files: Sequence[tuple[ExpectedFile, int]]) -> None:
    """Raises CorruptFileError for a file that has not the size which its commit says. `files` are such files with their bytes
    in a listing."""
    for file, listed_size in files:
        now = state.storage.info(file.path)  # the listing may be older than the write
        size = listed_size if now is None else now.size
        if _differs(size, file.size, file.name):
            more = f" (one of {len(files)} such files)" if len(files) > 1 else ""
            fault = "was cut short" if size < file.size else "was replaced"
            left = "what is left of the file" if size < file.size else "the rows of the file that is there"
            raise CorruptFileError(
                f"A {'log' if file.is_log else 'base'} file of table {state.storage.base_path} {fault}",
                found=f"{file.path} has {size:,} bytes, and {state.where(file.instant)} wrote {file.size:,}{more}",
                fix="restore it from a backup, or run `hudi-services doctor`, which names the ways without one. Nothing was "
                f"changed. The read option hoodie.read.check.files=false gives {left}, "
                "and as_of the rows before that commit",
            )


def chosen_partitions(state: TableState, chosen: ChosenFiles, choice: Choice) -> list[str]:
    """The partitions that were chosen: those that were found, and those that commits wrote and that are nowhere.

    If commits wrote more files than are looked up, only those of some partitions are known.
    """
    result = [file.partition for file in chosen.files]
    partitions = written_partitions(state, state.timeline.commits) or frozenset()
    left_out = set(chosen.left_out)
    missing = sorted(name for name in partitions.difference(result) if left_out.isdisjoint(_with_parents(name)))
    return [*result, *choice.partitions(missing)] if missing else result


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def retried_when_missing(plan: Callable[Concatenate[TableState, P], R]) -> Callable[Concatenate[TableState, P], R]:
    """`plan`, tried once more on the current timeline when a file is missing.

    A process without a lock may load the timeline, and list partitions after others have written and cleaned.
    """

    @wraps(plan)
    def planned(state: TableState, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return plan(state, *args, **kwargs)
        except MissingFileError:
            now = state.reloaded()
            if now is None:
                raise
        return plan(now, *args, **kwargs)

    return planned


@dataclass(frozen=True, slots=True)
class _Present:
    """Files of the slices of one partition."""

    names: set[str] = field(default_factory=set)
    begins: dict[str, Time] = field(default_factory=dict)  # file id -> time of the base file


def absent_of(
    state: TableState,
    slices: Iterable[FileSlice],
    commits: Iterable[tuple[Instant, Written]],
    partitions: Collection[str] | None = None,
    as_of: Time | None = None,
) -> list[ExpectedFile]:
    """Files of these commits that the slices lack: of each group the newest base file, and the logs of its slice."""
    present: defaultdict[str, _Present] = defaultdict(_Present)
    for file_slice in slices:
        files_here = present[file_slice.partition]
        files_here.names.update(log.info.name for log in file_slice.log_files)
        if file_slice.base_file is not None:
            files_here.names.add(file_slice.base_file.name)
            files_here.begins[file_slice.file_id] = file_slice.base_file.instant
    bases: dict[GroupId, ExpectedFile] = {}
    later: dict[GroupId, Time] = {}  # begin of the first slice after `as_of`
    logs: list[ExpectedFile] = []
    for instant, written in commits:
        time = instant.time
        for partition in written if partitions is None else [name for name in partitions if name in written]:
            files_here = present[partition]
            for name, size in written[partition].items():
                if name in files_here.names or size == LISTED:
                    continue
                file_id, is_log = _file_id(name), name.startswith(".")
                if as_of is not None and time > as_of:
                    if not is_log:
                        later.setdefault(GroupId(partition, file_id), time)
                elif is_log:
                    logs.append(ExpectedFile(partition, name, instant))
                elif files_here.begins.get(file_id, BEGINNING) <= time:
                    bases[GroupId(partition, file_id)] = ExpectedFile(partition, name, instant)
                    files_here.begins[file_id] = time
    of_slices: dict[str, ExpectedFile] = {}  # path -> a log that comes after the newest base file of its group
    for log in logs:
        begin = present[log.partition].begins.get(log.group.file_id, BEGINNING)
        place = log_place(state, log)
        end = None if state.layout.logs_tell_writer else later.get(log.group)  # a write has its logs wherever they are
        if begin <= place and (end is None or place < end):
            of_slices.setdefault(log.path, log)
    return [*bases.values(), *of_slices.values()]


def _file_id(name: str) -> str:
    """The file id of a base or log file."""
    return name.lstrip(".").partition("_")[0]


def log_place(state: TableState, log: ExpectedFile) -> Time:
    """A log belongs to the newest slice that did not begin after this."""
    if state.layout.logs_tell_writer:
        return log.instant.completion_time or log.instant.time
    parsed = LogFileName.parse(log.name)
    return parsed.time if parsed is not None else log.instant.time


def _missing(state: TableState, missing: list[ExpectedFile], as_of: Time | None) -> MissingFileError | TimeTravelError:
    first = missing[0]
    more = f" (and {len(missing) - 1} other files)" if len(missing) > 1 else ""
    clean = _cleaned_by(state, first) if as_of is not None else None
    if clean is not None:
        return TimeTravelError(
            f"Table {state.storage.base_path} cannot be read as of {as_of}",
            found=f"clean {clean.time} removes {first.path}{more}, which was current then",
            fix="ask for a later time, or retain more commits (hoodie.clean.commits.retained)",
        )
    doctor = "" if first.instant.is_archived else ", or run `hudi-services doctor`, which names the ways without one"
    return MissingFileError(
        f"A {'log' if first.is_log else 'base'} file of table {state.storage.base_path} is missing",
        found=f"{first.path}{more}, which {state.where(first.instant)} wrote",
        fix=f"restore it from a backup{doctor}. Nothing was changed, and the table before that commit can still be read (as_of)",
    )


def _cleaned_by(state: TableState, file: ExpectedFile) -> Instant | None:
    """The clean that removed the file, or is about to."""
    archived: Sequence[Instant] = state.archive.instants(file.instant.time) if file.instant.is_archived else ()
    instants: Sequence[Instant] = (*archived, *state.timeline)
    for instant in instants:
        if instant.action is not Action.CLEAN:
            continue
        if instant.is_completed:
            names = state.clean_result(instant).deleted.get(file.partition, ())
        else:
            path = state.layout.requested_path(instant.time, instant.action)
            try:
                plan = decode_clean_plan(state.storage.read(path), path, lambda path: path)
            except FileNotFoundError:  # it was completed and archived in the meantime
                continue
            names = tuple(file.path.rpartition("/")[2] for file in plan.files)
        if file.name in names:
            return instant
    return None

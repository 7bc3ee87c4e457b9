"""Files of file slices that archived commits wrote, and that are gone, or cut short.

Reads of now do not look for them: that takes the bodies of all archived commits. Reads that begin or end in the archive do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from hoodie.model.files import FileSlice, GroupId
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.timeline.codecs.commit_files import Written, written_by
from hoodie.view.missing_files import ExpectedFile, absent_of, check_sizes, refuse_absent, resized
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.state import TableState

Chosen = Callable[[Collection[str]], Sequence[str]]
"""Those of some partitions that are looked at."""


def check_archived(
    state: TableState,
    slices: Sequence[FileSlice],
    chosen: Chosen,
    as_of: Time | None = None,
    commits: Sequence[Instant] | None = None,
) -> None:
    """Raises what `check_files` raises, for the files of these archived commits, or of all (None).

    Reads their bodies, of all those until `as_of`; in version 6 of later ones, too, as a later slice of a file group ends the one
    before. Raises CorruptTableError or MissingFileError for an archive that cannot be read.
    """
    if commits is None:
        commits = state.archive.instants(until=as_of if state.layout.logs_tell_writer else None)
    present = {(s.partition, file.info.name) for s in slices for file in s.files}
    sizes: list[tuple[Instant, Written]] = []
    absent = absent_of(state, slices, _noted(_written(state, chosen, commits), present, sizes), as_of=as_of)
    refuse_absent(state, unexplained(state, absent, as_of), slices, as_of)
    check_sizes(state, resized(state, slices, (pair for pair in sizes if as_of is None or pair[0].time <= as_of)))


def absent_archived(state: TableState, slices: Sequence[FileSlice]) -> list[ExpectedFile]:
    """Files that archived commits wrote, that should be in the latest slices, and are not, be they on the storage or not.

    Raises CorruptTableError or MissingFileError for an archive that cannot be read.
    """
    active = [(commit, written_by(state.commit_metadata(commit), commit.time)) for commit in state.timeline.commits]
    absent = absent_of(state, slices, [*_written(state, list, state.archive.instants()), *active])
    return unexplained(state, [file for file in absent if file.instant.is_archived], None)


def unexplained(state: TableState, absent: Sequence[ExpectedFile], as_of: Time | None) -> list[ExpectedFile]:
    """Those of the files whose group was not replaced, and whose commit was not taken back, though the archive has it."""
    if not absent:
        return []
    replaced: dict[GroupId, Time] = {group: instant.time for group, instant in replaced_groups(state, as_of).items()}
    undone: dict[Time, Time] = {}
    for instant in state.archive.instants():
        if instant.action is Action.REPLACE_COMMIT and (as_of is None or instant.time <= as_of):
            for group in state.commit_metadata(instant).replaced_groups:
                replaced[group] = max(replaced.get(group, BEGINNING), instant.time)
        elif instant.action in (Action.ROLLBACK, Action.RESTORE):
            undone.update(dict.fromkeys(state.archive.taken_back(instant) or (), instant.time))
    return [
        file
        for file in absent
        if replaced.get(file.group, BEGINNING) < file.instant.time
        and undone.get(file.instant.time, BEGINNING) <= _completion(state, file.instant)
    ]


def _completion(state: TableState, instant: Instant) -> Time:
    """When it was complete, by the clock that gives instants their times: that of version 6 is of another one."""
    known = instant.completion_time if state.layout.names_tell_completion else None
    return known or instant.time


def _written(state: TableState, chosen: Chosen, instants: Iterable[Instant]) -> Iterator[tuple[Instant, Written]]:
    """The files that each commit among archived instants wrote to the partitions that are looked at."""
    active = state.timeline.commit_times
    for instant in instants:
        if instant.action in WRITE_ACTIONS and instant.time not in active and state.timeline.is_committed(instant.time):
            written = written_by(state.commit_metadata(instant), instant.time)
            yield instant, {partition: written[partition] for partition in chosen(sorted(written))}


def _noted(
    commits: Iterable[tuple[Instant, Written]],
    present: Collection[tuple[str, str]],
    sizes: list[tuple[Instant, Written]],
) -> Iterator[tuple[Instant, Written]]:
    """`commits`; what they say of files that are `present` goes to `sizes`."""
    for instant, written in commits:
        yield instant, written
        here = {
            partition: {name: size for name, size in files.items() if (partition, name) in present}
            for partition, files in written.items()
        }
        if any(here.values()):
            sizes.append((instant, here))

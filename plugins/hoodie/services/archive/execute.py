"""The archiver: moves old instants from the active timeline to the archive, some at a time, each time under the table's lock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hoodie.config.key import Options
from hoodie.config.keys import archive as keys
from hoodie.config.options import RawOptions
from hoodie.config.properties.store import load_properties
from hoodie.display import Shown, Shows, counted
from hoodie.errors import MissingFileError
from hoodie.model.time import Time
from hoodie.services.archive.leftovers import Partitions
from hoodie.services.archive.plan import ArchivePlan, checked, decide_archive
from hoodie.services.decision import Decision
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Gaps, Instant, Timeline, layout_of, list_instants
from hoodie.timeline.archive.writer import ArchiveSettings, ArchiveWriter, Entry, StateFile
from hoodie.transaction.leftovers import delete_remains, marked_instants
from hoodie.transaction.locks import Locking, ensure_held, table_lock, verify_held
from hoodie.transaction.recovery import recovered
from hoodie.view import TableState
from hoodie.view.access import TableAccess

_INSTANTS = 500  # that are archived at once, under one lock
# At least one in 20 of the instants listed under a lock goes into the archive; a backlog would otherwise mostly be listed.
_SHARE = 20
_BYTES = 32 * 1024 * 1024  # bytes of their files, which are held in memory

_Files = dict[tuple[Time, Action], list[Instant]]
"""All files that the active timeline has of an instant, ascending by state."""
Keys = Collection[tuple[Time, Action]]


@dataclass(frozen=True, repr=False)
class ArchiveRun(Shows):
    """Result of the archiver: how many instants it moved, and how many files of the history it merged."""

    decision: Decision[ArchivePlan]
    instants: int = 0
    first: Time | None = None
    last: Time | None = None
    merged: int = 0

    def shown(self) -> Shown:
        """How many instants went, and the range of their times."""
        line = f"ArchiveRun({counted(self.instants, 'instant')} archived; {self.decision.reason})"
        rows = [(self.first, self.last, self.instants)] if self.instants else []
        return Shown(line, columns=("from", "to", "instants"), rows=rows)


def run_archive(access: TableAccess, raw_options: RawOptions, *, only: str | None = None) -> ArchiveRun:
    """Archive the instants that may go, in batches. Other processes can get the lock between two batches.

    With `only`, archive just the instants of the plan of this digest, even if more could go now.

    Safe to kill at any point: an instant is in the archive before its files go, and the next run removes what is left of it.
    Raises what `decide_archive` raises, PlanChangedError, LockHeldError, LockLostError, and UnsupportedTableError for a table
    that is read only.
    """
    options = checked(raw_options)
    locking = Locking.of(options)
    state = access.state()
    state.properties.check_changeable()
    decision = decide_archive(state, raw_options, access.clock)
    decision.only("archive", access.storage.base_path, only)
    if decision.plan is None:  # without waiting for a writer
        return ArchiveRun(decision)
    planned = {instant.key for instant in decision.plan.instants} if only is not None else None
    moved: list[Instant] = []
    merged, more = 0, True
    while more:
        with table_lock(access.storage, access.clock, "archive", locking):
            backlog = _Backlog.of_table(access)
            before, enough = len(moved), len(backlog.state.timeline) // _SHARE
            while batch := _next_batch(access, backlog, raw_options, options, planned, continued=bool(moved)):
                moved += batch
                backlog = backlog.without(batch)
                if len(moved) - before >= enough:
                    break
            more = len(moved) > before
            if not more and moved:
                merged = _writer(backlog.state, options).tidy()
    times = [instant.time for instant in moved]
    return ArchiveRun(decision, len(moved), min(times, default=None), max(times, default=None), merged)


@dataclass(frozen=True)
class _Backlog:
    """Result of one listing under the lock: the timeline, and the files of its instants."""

    state: TableState
    files: _Files
    marked: Sequence[Time] | None  # instants with markers; None once what they name is deleted
    partitions: Partitions  # listed once for all batches under the lock

    @staticmethod
    def of_table(access: TableAccess) -> _Backlog:
        marked = marked_instants(access.storage)
        properties = load_properties(access.storage, access.clock)
        layout = layout_of(properties)
        instants = list_instants(access.storage, layout)
        files: _Files = {}
        for instant in sorted(instants, key=lambda stored: stored.state):
            files.setdefault(instant.key, []).append(instant)
        timeline = Timeline.of(instants, Gaps(access.storage, layout))
        state = TableState(access.storage, properties, layout, timeline)
        return _Backlog(state, files, marked, Partitions(state.files))

    def without(self, archived: Sequence[Instant]) -> _Backlog:
        """The backlog without these instants, which are in the archive. It keeps nothing that was read of them."""
        removed = {instant.key for instant in archived}
        timeline = replace(self.state.timeline, instants=tuple(i for i in self.state.timeline if i.key not in removed))
        state = TableState(self.state.storage, self.state.properties, self.state.layout, timeline)
        for key in removed:
            self.files.pop(key, None)
        return _Backlog(state, self.files, None, self.partitions)


def _next_batch(
    access: TableAccess,
    backlog: _Backlog,
    raw_options: RawOptions,
    options: Options,
    planned: Keys | None,
    *,
    continued: bool,
) -> Sequence[Instant]:
    """Archive the oldest instants that may go; with `planned`, these only. Call it under the lock under which `backlog` was
    listed."""
    state, files = backlog.state, backlog.files
    partitions = backlog.partitions
    plan = decide_archive(
        state, raw_options, access.clock, continued=continued, most=_INSTANTS, partitions=partitions
    ).plan
    if plan is None:
        return ()
    if backlog.marked is not None:
        delete_remains(state, backlog.marked)  # what lost attempts have left would count as committed
    may_go = plan.instants if planned is None else [instant for instant in plan.instants if instant.key in planned]
    if not may_go:
        return ()
    batch = list(_within(may_go, files))
    archived = state.archive.archived_keys(batch)
    new = [instant for instant in batch if instant.key not in archived]
    if len(new) < len(batch):
        recovered(f"removed {counted(len(batch) - len(new), 'instant')} that an interrupted archival had stored")
    if new:
        entries = _entries(access, state, new, files, options[keys.DELETE_PARALLELISM])
        verify_held()
        _writer(state, options).add(entries)
    verify_held()
    _remove(access, state, batch, files, options[keys.DELETE_PARALLELISM])
    return batch


def _writer(state: TableState, options: Options) -> ArchiveWriter:
    settings = ArchiveSettings(
        options[keys.BLOCK_ENTRIES],
        options[keys.LEVEL_FILES],
        options[keys.LEVEL_FILE_BYTES],
        options[keys.MANIFESTS_RETAINED],
    )
    return state.layout.archive_writer(state.storage, settings)


def _within(instants: Iterable[Instant], files: _Files) -> Iterator[Instant]:
    """The first of them, at least one, as far as their files are held in memory together."""
    size = 0
    for place, instant in enumerate(instants):
        size += sum(state_file.stamp[0] for state_file in files.get(instant.key, ()))
        if place and size > _BYTES:
            return
        yield instant


def _entries(
    access: TableAccess, state: TableState, instants: Sequence[Instant], files: _Files, tasks: int
) -> list[Entry]:
    """The instants with the bodies of their files. Raises MissingFileError when one is gone, which under the lock none can."""
    path = state.layout.path
    paths = [
        path(state_file) for instant in instants for state_file in files.get(instant.key, ()) if state_file.stamp[0]
    ]
    read = access.engine.map(_ReadFiles(state.storage), _shared(paths, tasks))
    bodies = {name: body for part in read for name, body in part.items()}
    entries = []
    for instant in instants:
        states = [StateFile(state_file, bodies.get(path(state_file), b"")) for state_file in files.get(instant.key, ())]
        if not states or not states[-1].instant.is_completed:
            raise MissingFileError(
                f"The file of {state.where(instant)} is gone",
                found="another process has removed it, although this one holds the table's lock",
                fix="see the lock providers with `hudi-services show locks`; nothing of this batch was archived",
            )
        entries.append(Entry(states[-1], tuple(states[:-1])))
    return entries


def _remove(access: TableAccess, state: TableState, instants: Sequence[Instant], files: _Files, tasks: int) -> None:
    """Delete the files of archived instants. Pending ones go first, or the instant would look as if it was under way; completed
    ones in the order of their times, so that no reader finds a gap."""
    path = state.layout.path
    pending = [path(state_file) for i in instants for state_file in files.get(i.key, ()) if not state_file.is_completed]
    access.engine.map(_DeleteFiles(state.storage), _shared(pending, tasks))
    for instant in instants:
        for state_file in files.get(instant.key, ()):
            if state_file.is_completed:
                ensure_held()
                state.storage.delete(path(state_file))


def _shared(paths: Sequence[str], tasks: int) -> list[Sequence[str]]:
    """The paths, shared out to at most `tasks` tasks."""
    count = max(1, min(tasks, len(paths)))
    return [paths[start::count] for start in range(count)] if paths else []


@dataclass(frozen=True)
class _ReadFiles:
    storage: Storage

    def __call__(self, paths: Sequence[str]) -> dict[str, bytes]:
        return {path: self.storage.read(path) for path in paths}


@dataclass(frozen=True)
class _DeleteFiles:
    storage: Storage

    def __call__(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.storage.delete(path)

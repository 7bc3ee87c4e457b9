"""Old files that a purge removes, and those that a savepoint, a consumer, a plan or a write holds back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from hoodie.changes.consumer_lag import Claim, claims
from hoodie.clock import Clock
from hoodie.config.key import Options
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.model.clean import CleanFile
from hoodie.model.files import FileGroup, FileSlice, GroupId
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.services.clean.blockers import kept_paths
from hoodie.services.clean.retention import planned_files
from hoodie.services.stages import HeldFile
from hoodie.timeline import Action, Instant, parse_time
from hoodie.view import TableState, TableView
from hoodie.view.savepoints import savepoints


@dataclass(frozen=True)
class Wish:
    """A purge that a user asks for: the rows where `condition` is true. It may delete the savepoints that hold them, and need not
    wait for consumers."""

    condition: str
    delete_savepoints: bool = False
    past_consumers: bool = False


@dataclass(frozen=True)
class Removal:
    """Old files of the file groups with traces: those that can go, and those that something holds."""

    files: tuple[CleanFile, ...] = ()
    held_files: tuple[HeldFile, ...] = ()


def removal_of(
    view: TableView,
    groups: Collection[GroupId],
    paths: Collection[str],
    wish: Wish,
    options: Options,
    clock: Clock,
    rewritten: Iterable[FileSlice] = (),
) -> Removal:
    """The old slices of file groups, those `rewritten` among them, and files with a trace (`paths`) that no commit names."""
    superseded = {file_slice.group for file_slice in rewritten}
    old = [entry for group in view.groups if group.group in groups for entry in _old(view, group, superseded)]
    going = savepoints_of(view, paths) if wish.delete_savepoints else ()
    saved = [savepoint for savepoint in savepoints(view.state) if savepoint not in going]
    kept_by = kept_paths(view, saved)
    claim = None if wish.past_consumers else claims(view.state, clock.now(), options[RETENTION_HOURS]).slowest
    free = [(file_slice, reason) for file_slice, reason, since in old if not _is_claimed(claim, since)]
    claimed = [file_slice for file_slice, _, since in old if _is_claimed(claim, since)]
    files = planned_files(free, (log for part in view.files for log in part.log_files), kept_by)
    slices = [file_slice for file_slice, _, _ in old]
    files += _strays(view, paths, kept_by)
    deleted = {file.path for file in files}
    held_files = [
        *_held_by_instants(slices, kept_by, deleted),
        *_held_by_consumer(claimed, claim, _passed_at(view.state, claim, options), kept_by),
        *_pending(view, paths),
    ]
    return Removal(tuple(files), tuple(held_files))


def savepoints_of(view: TableView, paths: Collection[str]) -> list[Savepoint]:
    """The savepoints that keep a file with a trace, or the base file of its logs: `--delete-savepoints` deletes these, and no
    others."""
    slices = (file_slice for group in view.groups for file_slice in group.slices)
    bases = {
        file_slice.base_file.path
        for file_slice in slices
        if file_slice.base_file is not None and any(path in paths for path in file_slice.paths)
    }
    slice_paths = bases.union(paths)
    return [savepoint for savepoint in savepoints(view.state) if not slice_paths.isdisjoint(savepoint.paths)]


def _old(
    view: TableView, group: FileGroup, superseded: Collection[GroupId]
) -> Iterator[tuple[FileSlice, str, Time | None]]:
    """Slices of a group that are not current, each with the reason and the instant that superseded it; None: this purge will."""
    replacing = view.replaced.get(group.group)
    newer = replacing.time if replacing is not None else None
    for place, file_slice in enumerate(group.slices):
        if place or replacing is not None:
            verb = "replaced" if replacing is not None and not place else "superseded"
            yield file_slice, f"purged; {verb} by {newer}", newer
        elif group.group in superseded:
            yield file_slice, "purged; this run rewrites its file group", None
        newer = file_slice.base_instant


def _is_claimed(claim: Claim | None, since: Time | None) -> bool:
    """Return whether a consumer has yet to read the commit that superseded a slice, and so needs the slice."""
    if claim is None:
        return False
    return claim.first is None or since is None or since >= claim.first.time


def _strays(view: TableView, paths: Collection[str], kept_by: Collection[str]) -> list[CleanFile]:
    """Files with a trace that no slice has: killed attempts left them. Change-data logs go with their slices."""
    named = {path for group in view.groups for file_slice in group.slices for path in file_slice.paths}
    pending = {instant.time for instant in view.state.timeline.pending}
    bases = (base for part in view.files for base in part.base_files)
    strays = (base for base in bases if base.path in paths and base.path not in named and base.instant not in pending)
    return [
        CleanFile(base.path, base.partition, base.file_id, base.size, "purged; no commit names it")
        for base in strays
        if base.path not in kept_by
    ]


def _held_by_instants(
    slices: Iterable[FileSlice], kept_by: dict[str, Instant], deleted: Collection[str]
) -> Iterator[HeldFile]:
    for file_slice in slices:
        base = file_slice.base_file
        for file in file_slice.files:
            holder = kept_by.get(file.path) or (kept_by.get(base.path) if base is not None else None)
            if holder is None or file.path in deleted:
                continue
            if holder.action is Action.SAVEPOINT:
                reason, fix = f"savepoint {holder.time} keeps it until it is deleted", "run with --delete-savepoints"
            else:
                reason, fix = f"{holder.action} {holder.time} is to read it", "carry that plan out, then purge again"
            yield HeldFile(file.path, file.info.size, reason, fix)


def _passed_at(state: TableState, claim: Claim | None, options: Options) -> str:
    """The time at which cleans stop waiting for the consumer, as a part of a sentence."""
    first = claim.first if claim is not None else None
    if first is None:
        return ""
    since = parse_time(first.completion_time or first.time, state.zone)
    return f", at the latest until {since + timedelta(hours=options[RETENTION_HOURS]):%Y-%m-%d %H:%M} UTC"


def _held_by_consumer(
    slices: Iterable[FileSlice], claim: Claim | None, until: str, kept_by: Collection[str]
) -> Iterator[HeldFile]:
    if claim is None:
        return
    for file_slice in slices:
        for file in file_slice.files:
            if file.path not in kept_by:
                reason = f"consumer {claim.consumer!r} has not read the commit that superseded it{until}"
                yield HeldFile(file.path, file.info.size, reason, f"{claim.fix}, or run with --past-consumers")


def _pending(view: TableView, paths: Collection[str]) -> Iterator[HeldFile]:
    """Files with a trace of writes under way."""
    pending = {instant.time: instant for instant in view.state.timeline.pending}
    bases = [(file.path, file.size, file.instant) for part in view.files for file in part.base_files]
    logs = [(log.path, log.info.size, log.time) for part in view.files for log in part.log_files]
    for path, size, time in (*bases, *logs):
        if path in paths and time in pending:
            instant = pending[time]
            yield HeldFile(path, size, f"{instant.action} {instant.time} is not complete", "purge again after it")

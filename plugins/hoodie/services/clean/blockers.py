"""Instants and plans that hold files back from a clean. Pure but for the plans of pending services."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from hoodie.display import counted
from hoodie.model.files import FileSlice
from hoodie.model.savepoint import Savepoint
from hoodie.services.blockers import Hold
from hoodie.services.clean.retention import Retention
from hoodie.timeline import Action, Instant, Timeline
from hoodie.view import TableView


def holds_of_history(timeline: Timeline, retention: Retention) -> Iterator[Hold]:
    """Cleans that were cut short, and the pending instant that the retained history may not go past."""
    for instant in timeline.pending:
        if instant.action is Action.CLEAN:
            yield Hold(instant, "the next clean", "which was cut short")
    if retention.held_by is not None:
        since = f" before {retention.unblocked.time}" if retention.unblocked is not None else ""
        yield Hold(retention.held_by, f"what was superseded{since}", "which may still read it")


def holds_of_consumer(timeline: Timeline, retention: Retention) -> Iterator[Hold]:
    """The consumer for whose sake the retained history begins earlier than the policy says."""
    claim = retention.claim
    if claim is not None and claim.first is None:
        yield Hold(timeline.commits[0], "every older version of rows", claim.reason, claim.fix)
    elif claim is not None and claim.first is not None and retention.earliest is claim.first:
        yield Hold(claim.first, "what it and later commits superseded", claim.reason, claim.fix)


def kept_paths(view: TableView, saved: Sequence[Savepoint]) -> dict[str, Instant]:
    """The files that no clean removes -> for whose sake: a plan that is to change their group, or else a savepoint.

    Raises CorruptTableError for a torn plan.
    """
    result = {instant.time: instant for instant in view.state.timeline.completed(Action.SAVEPOINT)}
    instant_of_path = {path: result[savepoint.instant] for savepoint in saved for path in savepoint.paths}
    busy = view.busy.holders
    instant_of_path |= {
        path: busy[g.group] for g in view.groups if g.group in busy for s in g.slices for path in s.paths
    }
    return instant_of_path


def holds_of_files(removable: Iterable[FileSlice], instant_of_path: Mapping[str, Instant]) -> Iterator[Hold]:
    """Yield the holds of slices that nothing else needs. With its base file a slice keeps its logs."""
    result: dict[Instant, list[int]] = {}  # sizes in bytes
    for file_slice in removable if instant_of_path else ():
        base = file_slice.base_file
        holder_of_base = instant_of_path.get(base.path) if base is not None else None
        for file in file_slice.files:
            holder = holder_of_base or instant_of_path.get(file.path)
            if holder is not None:
                result.setdefault(holder, []).append(file.info.size)
    for holder, sizes in result.items():
        why = "which keeps them" if holder.action is Action.SAVEPOINT else "which is to read them"
        yield Hold(holder, _files(len(sizes), sum(sizes)), why)


def holds_of_slices(
    instant: Instant, slices: Collection[FileSlice], reason: str, fix: str | None = None
) -> Iterator[Hold]:
    """The slices that would go but for one instant."""
    if slices:
        files = sum(len(file_slice.files) for file_slice in slices)
        yield Hold(instant, _files(files, sum(file_slice.size for file_slice in slices)), reason, fix)


def _files(count: int, size: int) -> str:
    return f"{counted(count, 'file')} of {size:,} bytes"

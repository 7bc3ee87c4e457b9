"""The commits of a table in a range of completion times, and the table as it was at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hoodie.cache import cached_property
from hoodie.changes.query import ChangeQuery
from hoodie.errors import ChangeRangeError
from hoodie.model.time import BEGINNING, Time
from hoodie.read.incremental import check_complete, time_in_range
from hoodie.read.times import moment_as_time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, Timeline
from hoodie.timeline.codecs.restore import restored_instants
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.view import TableState
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.restore import as_restored

_READ = frozenset({*WRITE_ACTIONS, Action.ROLLBACK, Action.RESTORE})  # actions of the archive that a range looks at


@dataclass(frozen=True)
class ChangeRange:
    """Commits that changed rows, in the order of their completion, and a state that has all of them on its timeline."""

    state: TableState
    commits: tuple[Instant, ...]
    active: TableState  # without the archived commits of the range
    partitions: frozenset[str]
    """The partitions that the commits wrote."""

    def completion(self, commit: Instant) -> Time:
        """The time by which the range orders a commit."""
        return time_in_range(self.state, commit)

    @cached_property
    def _ordered(self) -> Sequence[Instant]:
        return by_completion(self.state)

    def before(self, commit: Instant) -> TableState:
        """The table when `commit` was not complete: without it, and without those that completed after it."""
        place = self._ordered.index(commit)
        return self.state.before(self._ordered[place:])

    def after(self, commit: Instant) -> TableState:
        """The table when `commit` was complete, and none of the later ones was."""
        return self.state.before(self.later(commit))

    def later(self, commit: Instant) -> Sequence[Instant]:
        """The commits that completed after `commit`."""
        return self._ordered[self._ordered.index(commit) + 1 :]


def by_completion(state: TableState) -> list[Instant]:
    """The commits on the timeline in the order in which they became visible."""
    return sorted(state.timeline.commits, key=lambda commit: (time_in_range(state, commit), commit.time))


@retried_when_missing
def change_range(state: TableState, query: ChangeQuery) -> ChangeRange:
    """The commits of a range, archived ones too, without those that move rows and change none.

    Raises TimeTravelError for text that is not a time, PendingInstantError in version 6 where a write may still complete before
    the last commit of the range, and ChangeRangeError where the table was restored to a time before `start`. If a rollback or
    restore removes a commit at the same time, it looks at the timeline again.
    """
    state = as_restored(state)
    after = BEGINNING if query.start is None else moment_as_time(state, query.start)
    until = None if query.end is None else moment_as_time(state, query.end)
    if not state.layout.names_tell_completion:
        check_complete(state, after, until)
    active, state = state, with_archived(state, after, rollbacks=True)
    _check_not_restored(state, after)
    _check_not_rolled_back(state, after)
    changing, partitions = list[Instant](), set[str]()
    for commit in completed_after(state, after):
        if until is not None and time_in_range(state, commit) > until:
            break
        body = state.commit_metadata(commit)  # the body of an archived commit is not kept
        if not body.moves_rows:
            changing.append(commit)
            partitions |= body.partitions
    return ChangeRange(state, tuple(changing), active, frozenset(partitions))


def completed_after(state: TableState, after: Time) -> list[Instant]:
    """The commits on the timeline that completed after a time (version 6: began), by completion."""
    return [instant for instant in by_completion(state) if time_in_range(state, instant) > after]


def with_archived(state: TableState, after: Time, *, rollbacks: bool = False) -> TableState:
    """The state with all commits on its timeline that completed after a time, archived ones too, and with the last one before
    them. With `rollbacks` also those after the time that were archived without commits."""
    begin = state.earliest_begin(after) if after and state.layout.names_tell_completion else after
    if state.timeline.covers(begin) and not (rollbacks and _may_have_archived_rollbacks(state, after)):
        return state
    return _with_archived(state, begin)


def _with_archived(state: TableState, after: Time) -> TableState:
    """The state with the archived commits, rollbacks and restores that began after `after` on its timeline, and with the last
    commit before them: what is older than all of them counts as committed."""
    active = {instant.key for instant in state.timeline}
    archived: list[Instant] = []
    for instant in state.archive.newest():
        if instant.action in _READ and instant.key not in active:
            archived.append(instant)
        if instant.action in WRITE_ACTIONS and instant.time <= after:
            break
    return replace(state, timeline=Timeline.of([*archived, *state.timeline], state.timeline.gaps))


def _may_have_archived_rollbacks(state: TableState, after: Time) -> bool:
    """True if rollbacks after `after` may be archived, and no commits: in version 6 an archiver counts them apart."""
    undoing = [*state.timeline.completed(Action.ROLLBACK), *state.timeline.completed(Action.RESTORE)]
    return bool(after) and state.layout.cleans_archived_apart and bool(undoing) and min(i.time for i in undoing) > after


def _taken_back_by(state: TableState, instant: Instant) -> frozenset[Time] | None:
    """The instants that a rollback or restore undid; None where its archive does not say it."""
    if instant.is_archived:
        return state.archive.taken_back(instant)
    if instant.action is Action.RESTORE:
        return restored_instants(state.body(instant), state.where(instant))
    return frozenset({decode_rollback_result(state.body(instant), state.where(instant)).instant})


def _check_not_restored(state: TableState, after: Time) -> None:
    """Raises ChangeRangeError when a restore rolled back commits that a reader whose position is `after` has read."""
    is_ahead = _is_ahead(state, after)
    for restore in state.timeline.completed(Action.RESTORE):
        is_before = time_in_range(state, restore) <= after
        if is_before and not is_ahead:
            continue
        times = _taken_back_by(state, restore)
        if times is None:
            if not is_before and not _completed_at(state, after):
                cause = f"{state.where(restore)} took back commits, and no commit completed at {after}"
                raise _taken_back(state, after, after, cause)
            continue
        undone = sorted(time for time in times if time <= after and (not is_before or time > restore.time))
        if undone:
            raise _taken_back(state, after, undone[0], f"{state.where(restore)} took back commit {undone[0]}")


def _check_not_rolled_back(state: TableState, after: Time) -> None:
    """Raises ChangeRangeError when the commit whose completion is `after` was rolled back.

    A rollback does not say whether its write was complete. The position of a reader is the completion of a
    commit: if there is no commit of that completion, it was rolled back.
    """
    if _completed_at(state, after):
        return
    is_ahead = _is_ahead(state, after)
    for rollback in state.timeline.completed(Action.ROLLBACK):
        if rollback.time <= after and not is_ahead:
            continue
        for undone in _taken_back_by(state, rollback) or ():
            if undone <= after and (rollback.time > after or undone > rollback.time):
                cause = f"{state.where(rollback)} took back {undone}, and no commit completed at {after}"
                raise _taken_back(state, after, undone, cause)


def _is_ahead(state: TableState, after: Time) -> bool:
    """True for a position after all commits: a commit that was dated ahead may have been taken back by an earlier instant."""
    return all(time_in_range(state, commit) < after for commit in state.timeline.commits)


def last_begin(state: TableState, position: Time) -> Time | None:
    """The begin of the commit that began last of those that completed by a time; None in version 6, where the begin orders.

    A rollback undoes the commit that began last. Another one may have completed after it, and a reader whose position is
    the completion of that one notices the rollback by this begin alone.
    """
    if not state.layout.names_tell_completion:
        return None
    return max(
        (commit.time for commit in state.timeline.commits if time_in_range(state, commit) <= position), default=None
    )


def is_committed(state: TableState, began: Time) -> bool:
    """Return whether the table has a commit that began at that time, archived or not."""
    return as_restored(state).timeline.is_committed(began)


def check_begun(state: TableState, position: Time, began: Time | None) -> None:
    """Raises ChangeRangeError when the commit that began at `began` was rolled back, which a reader at `position` has read."""
    if began is not None and not is_committed(state, began):
        raise _taken_back(state, position, began, f"no commit that began at {began}, which was read")


def is_position(state: TableState, time: Time) -> bool:
    """Return whether a commit of the table, archived or not, completed at that time (version 6: began)."""
    return _completed_at(state, time) or _completed_at(with_archived(state, time), time)


def _completed_at(state: TableState, after: Time) -> bool:
    """True if a commit of the table completed at that time."""
    return any(time_in_range(state, commit) == after for commit in state.timeline.commits)


def _taken_back(state: TableState, after: Time, undone: Time, cause: str) -> ChangeRangeError:
    last = max(
        (time_in_range(state, commit) for commit in state.timeline.commits if commit.time < undone), default=None
    )
    start = f"the changes after {last}" if last is not None else "all changes"
    return ChangeRangeError(
        f"The changes of table {state.storage.base_path} after {after} do not continue the earlier read",
        found=cause,
        fix=f"read a snapshot again and go on from its last commit, or read {start} into your copy as of that time",
    )

"""Incremental reads: the rows that commits of a range wrote, as they are at its end (format notes, section 2.1)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import PendingInstantError, UnsupportedTableError
from hoodie.model.commit import CommitMetadata
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.model.time import BEGINNING, Time
from hoodie.read.query import Incremental
from hoodie.read.times import moment_as_time, resolve_as_of
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState
from hoodie.view.archive_check import refuse_lost_archive

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IncrementalRange:
    """Rows of an incremental read: those of some commits, or (a full scan) of all commits that began in a range."""

    commits: tuple[Time, ...] | None  # requested times; None: every commit after `after`, not after `until`
    after: Time
    until: Time | None
    partitions: tuple[str, ...] | None  # that the commits touched; None: all
    as_of: Time | None  # what is read: the table as it was then
    later: tuple[Instant, ...] = ()  # commits that began before `as_of`, complete after the range: they are not read
    share: float = 1.0
    """Rows that the commits added or changed, by all rows of the base files that they wrote."""
    archived: tuple[Instant, ...] = ()  # those of the commits that are archived

    def rows(self) -> pc.Expression:
        """The filter on the rows' commit times."""
        time = pc.field(COMMIT_TIME)
        if self.commits is not None:
            return time.isin(pa.array(self.commits, pa.string()))
        return time > self.after if self.until is None else (time > self.after) & (time <= self.until)


def incremental_range(state: TableState, request: Incremental) -> IncrementalRange:
    """The commits of the range, archived ones included, and what has to be read for their rows.

    Raises UnsupportedTableError for a table with virtual keys, CorruptTableError or MissingFileError when the archived timeline
    is needed and lost, or cannot be read. PendingInstantError in version 6, where a write is at work that began before a commit
    of the range (Hudi's `hoodie.read.timeline.holes.resolution.policy`, FAIL). With a full scan it is only asked whether there
    was a commit by the end of the range, where that is before those of the active timeline: TimeTravelError when there was none.
    """
    if state.properties.virtual_keys:
        raise UnsupportedTableError(
            f"Table {state.properties.name!r} has no incremental reads",
            found="virtual keys (hoodie.populate.meta.fields=false): its rows do not say which commit wrote them",
            fix="read a snapshot, or two as of different times and compare them",
        )
    after = moment_as_time(state, request.start) if request.start is not None else BEGINNING
    until = moment_as_time(state, request.end) if request.end is not None else None
    if not state.layout.names_tell_completion:
        check_complete(state, after, until)
    by_completion = after and state.layout.names_tell_completion
    began_after = state.earliest_begin(after) if by_completion else after
    archived: tuple[Instant, ...] = ()
    if not state.timeline.covers(began_after) and (after or until):
        if request.full_scan:
            return IncrementalRange(None, after, until, None, None if until is None else resolve_as_of(state, until))
        active = state.timeline.commit_times
        archived_instants = state.archive.instants(after=began_after, until=until)
        archived = tuple(i for i in archived_instants if i.action in WRITE_ACTIONS and i.time not in active)
        if not archived:
            refuse_lost_archive(state, after)
    elif not after and until is None:
        return IncrementalRange(None, after, until, None, None)  # every row there is
    commits = (*archived, *state.timeline.commits)
    chosen = [
        i for i in commits if after < time_in_range(state, i) and (until is None or time_in_range(state, i) <= until)
    ]
    changing = [i for i in chosen if not state.commit_metadata(i).moves_rows]
    bodies = [state.commit_metadata(instant) for instant in changing]
    partitions = frozenset[str]().union(*(body.partitions for body in bodies))
    times = tuple(instant.time for instant in changing)
    touched, of_archive = tuple(sorted(partitions)), tuple(i for i in chosen if i.is_archived)
    if until is None or not chosen:
        return IncrementalRange(times, after, until, touched, None, share=_share(bodies), archived=of_archive)
    # A later write must not hide what the range wrote: the files are those of its end.
    as_of = max(i.time for i in commits if time_in_range(state, i) <= until)
    later = tuple(i for i in commits if i.time <= as_of and time_in_range(state, i) > until)
    return IncrementalRange(times, after, until, touched, as_of, later, _share(bodies), of_archive)


def check_complete(state: TableState, after: Time, until: Time | None) -> None:
    """Raises PendingInstantError when a write may still complete before the last commit of the range, by the begin of both.

    A reader that goes on from that commit would never see the rows of the write. A write that began by `after` is logged: such
    a reader has begun without it.
    """
    pending = [i for i in state.timeline.pending if i.action in WRITE_ACTIONS and (until is None or i.time <= until)]
    pending = [i for i in pending if not is_plan(state, i.time, i.action)]
    _log_missed([i for i in pending if i.time <= after], state, after)
    writes = [i for i in pending if after < i.time]
    if not writes:
        return
    first, table = writes[0], state.storage.base_path
    passed = [i for i in state.timeline.commits if first.time < i.time and (until is None or i.time <= until)]
    if passed:
        before = max((i.time for i in state.timeline.commits if after < i.time < first.time), default=None)
        end = f", or end the range at {before}" if before is not None else ""
        raise PendingInstantError(
            f"The range of an incremental read of table {table} is not complete",
            found=f"{state.where(first)} is pending, and began before commit {passed[-1].time}, which is in the range",
            fix=f"read again when it is complete or rolled back{end}; from version 8 on the time of completion decides",
        )
    if until is not None:
        text = "Table %s: %s is pending and began in the range that ends at %s: read from its begin on the next time"
        _log.warning(text, table, first, until)


def _log_missed(writes: Sequence[Instant], state: TableState, after: Time) -> None:
    """Log that the rows of `writes`, which began by `after` and may still complete, are in no range that begins there."""
    if not writes:
        return
    before = max((i.time for i in state.timeline.commits if i.time < writes[0].time), default=None)
    start = f"at {before}" if before is not None else "without a start"
    text = "Table %s: %s is pending and began before the range after %s: no range from there on has its rows. Begin %s"
    _log.warning(text, state.storage.base_path, writes[0], after, start)


def time_in_range(state: TableState, instant: Instant) -> Time:
    """The time by which a read of a range goes: of completion, in version 6 of begin."""
    completion = instant.completion_time if state.layout.names_tell_completion else None
    return completion or instant.time


def _share(commits: Iterable[CommitMetadata]) -> float:
    based = [stat for commit in commits for stat in commit.stats if stat.log is None]
    changed = sum(stat.num_inserts + stat.num_updates for stat in based)
    return changed / max(1, sum(stat.num_writes for stat in based))

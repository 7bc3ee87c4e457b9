"""Instants that have to stay on the active timeline, and why (format notes, section 3.3). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from hoodie.config.key import Options
from hoodie.config.keys import archive as keys
from hoodie.config.keys.clean import COMMITS_RETAINED, HOURS_RETAINED, POLICY
from hoodie.config.keys.compaction import DELTA_COMMITS, TRIGGER
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, Timeline, format_time

_COUNTING = ("NUM_COMMITS", "NUM_AND_TIME")  # triggers of compactions that count delta commits on the active timeline
_BUILDS_ON = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, *WRITE_ACTIONS})


@dataclass(frozen=True)
class Hold:
    """No commit that began at `since` or later may be archived, and why: it is `instant` that holds it, where one does."""

    since: Time
    why: str
    instant: Instant | None = None
    every: bool = False  # holds cleans and rollbacks, too, if they have limits of their own
    fix: str | None = None  # what to do about it, where the instant does not say that


def kept_at_least(timeline: Timeline, options: Options, now: datetime, zone: tzinfo) -> int:
    """How many commits stay: as many as asked for, but more than the cleaner counts, or it would never begin."""
    commits, least = timeline.commits, options[keys.MIN_COMMITS]
    match options[POLICY]:
        case "KEEP_LATEST_COMMITS":
            counted = options[COMMITS_RETAINED]
        case "KEEP_LATEST_BY_HOURS":
            horizon = _horizon(now, options[HOURS_RETAINED], zone)
            counted = sum(max(i.time, i.completion_time or BEGINNING) >= horizon for i in commits)
        case _:
            counted = 0
    return max(least, counted + 1 if counted else 0)


def _horizon(now: datetime, hours: int, zone: tzinfo) -> Time:
    try:
        return format_time(now - timedelta(hours=hours), zone)
    except OverflowError:  # before the first year
        return BEGINNING


def holds(timeline: Timeline, options: Options, merge_on_read: bool, clean: Time | None) -> Iterator[Hold]:
    """Yield the holds of archival. `clean` is the first commit that the last clean retained."""
    pending = next((i for i in timeline.pending if i.action in _BUILDS_ON), None)
    if pending is not None:
        before = [commit.time for commit in timeline.commits if commit.time < pending.time]
        yield Hold(before[-1] if before else pending.time, f"{pending} is not complete", pending)
    saved = timeline.completed(Action.SAVEPOINT)
    if saved:
        yield Hold(saved[0].time, f"there is a savepoint of {saved[0].time}", saved[0])
    if merge_on_read and options[TRIGGER] in _COUNTING:
        counted = _for_compaction(timeline, options[DELTA_COMMITS])
        if counted is not None:
            yield Hold(counted.time, f"the next compaction counts delta commits from {counted.time} on", counted)
    last = _completed_last(timeline)
    if last is not None and last is not timeline.last_commit:
        yield Hold(last.time, f"{last} was completed last, and later commits have to be completed after it", last)
    if clean and options[keys.BLOCK_ON_CLEAN]:
        yield Hold(clean, f"the last clean retained commits from {clean} on")


def _completed_last(timeline: Timeline) -> Instant | None:
    """The commit with the latest completion that its file name says; None in version 6, whose file names say no completion."""
    named = ((i.completion_time, i) for i in timeline.commits if i.completion_time and i.completion_time in i.file_name)
    return max(named, key=lambda pair: pair[0], default=(None, None))[1]


def _for_compaction(timeline: Timeline, deltas: int) -> Instant | None:
    """The first instant that a compaction needs to become due: the last compaction, or as many delta commits as it takes."""
    compactions = timeline.completed(Action.COMMIT)
    since = [i for i in timeline if i.action.completed_as is Action.DELTA_COMMIT]
    if compactions:
        since = [i for i in since if i.time > compactions[-1].time]
    if not since and not compactions:
        return None
    if len(since) < deltas:
        return compactions[-1] if compactions else since[0]
    return since[len(since) - deltas]


def archivable(
    timeline: Timeline, blocking: Sequence[Hold], retained: int, allowed: int, *, cleans_apart: bool
) -> tuple[Instant, ...]:
    """The completed instants that go, ascending, when `retained` commits stay of more than `allowed`.

    Cleans and rollbacks go with the commits that they lie between; with `cleans_apart` by counts of their own.
    """
    until = min((hold.since for hold in blocking), default=None)
    saved = {i.time for i in timeline.completed(Action.SAVEPOINT)}
    free = [i for i in timeline.commits if i.time not in saved and (until is None or i.time < until)]
    enough = len(timeline.commits) > allowed
    commits = free[: len(timeline.commits) - retained] if enough else []
    others: list[Instant] = []
    for action in (Action.CLEAN, Action.ROLLBACK):
        completed = timeline.completed(action)
        if not cleans_apart:
            others += [i for i in completed if commits and i.time < commits[-1].time]
        elif len(completed) > allowed:
            limit = min((hold.since for hold in blocking if hold.every), default=None)
            others += [i for i in completed[: len(completed) - retained] if limit is None or i.time < limit]
    return tuple(sorted((*commits, *others), key=lambda i: (i.time, i.action)))

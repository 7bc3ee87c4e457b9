"""Plan of an archival: read from the table, decided by `hoodie.services.archive.retention`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hoodie.changes.consumer_lag import Claims, claims
from hoodie.clock import Clock
from hoodie.config.key import Options, resolve
from hoodie.config.keys import archive as keys
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.options import RawOptions
from hoodie.errors import ConfigError
from hoodie.model.names import METADATA_TABLE
from hoodie.model.time import BEGINNING, Time
from hoodie.services.archive.leftovers import LEFTOVERS, Partitions
from hoodie.services.archive.retention import Hold, archivable, holds, kept_at_least
from hoodie.services.blockers import Blocker, blockers_of
from hoodie.services.blockers import Hold as Holding
from hoodie.services.decision import Decision
from hoodie.services.measures import Cause, Measure, Reason, TimelineLength
from hoodie.services.stages import ArchiveScope, Item, Items
from hoodie.timeline import Action, Instant, Timeline
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.view import TableState

_TAKING_BACK = frozenset({Action.ROLLBACK, Action.RESTORE})


@dataclass(frozen=True)
class ArchivePlan:
    """Completed instants that go, ascending, with the bytes of their completed files."""

    instants: tuple[Instant, ...]

    @property
    def bytes(self) -> int:
        return sum(instant.stamp[0] for instant in self.instants)


def decide_archive(
    state: TableState,
    raw_options: RawOptions,
    clock: Clock,
    *,
    continued: bool = False,
    most: int | None = None,
    partitions: Partitions | None = None,
) -> Decision[ArchivePlan]:
    """Plan an archival with the options of `hoodie.config.keys.archive`. Changes nothing. Lists all partitions when a
    commit is to go, or takes what a run has listed (`partitions`).

    A run that is `continued` goes on to the fewest commits, and takes `most` instants at once. Raises ConfigError, and
    CorruptTableError when an instant that is asked cannot be read.
    """
    options = checked(raw_options)
    timeline = state.timeline
    undone = next((i for i in timeline.pending if i.action in _TAKING_BACK), None)
    if undone is not None:
        pending_hold = Hold(undone.time, f"{undone} is not complete", undone)
        decision = _nothing(state, f"{undone} is not complete; the next write ends it", pending_hold)
        return replace(decision, blockers=_blockers([pending_hold], state, clock))
    retained = kept_at_least(timeline, options, clock.now(), state.zone)
    allowed = retained if continued else options[keys.MAX_COMMITS] - options[keys.MIN_COMMITS] + retained
    apart = state.layout.cleans_archived_apart
    others = [len(timeline.completed(action)) for action in (Action.CLEAN, Action.ROLLBACK)] if apart else []
    if max([len(timeline.commits), *others]) <= allowed:
        return _nothing(state, TimelineLength(_commits(state, allowed + 1, keys.MAX_COMMITS.name), "archived from"))
    consumers = claims(state, clock.now(), options[RETENTION_HOURS])
    blocking = [
        *holds(timeline, options, state.properties.is_merge_on_read, _last_clean(state)),
        *_metadata_table(state),
    ]
    blocking += _consumers(consumers, timeline)
    instants = archivable(timeline, blocking, retained, allowed, cleans_apart=apart)[:most]
    partitions = partitions or Partitions(state.files)
    planned: tuple[Instant, ...] | None = None
    while instants != planned:  # fewer that go may leave a commit as of which more files would be seen
        planned = instants
        for leftovers in LEFTOVERS:
            blocking += [hold for hold in leftovers(state, instants, partitions) if hold not in blocking]
            instants = archivable(timeline, blocking, retained, allowed, cleans_apart=apart)[:most]
    first = min(blocking, key=lambda hold: hold.since, default=None)
    why: list[Cause] = [TimelineLength(_commits(state, retained, keys.MIN_COMMITS.name), "stay")]
    if first is not None and first.since < _since(state, retained):
        why.append(f"held back: {first.why}")
    if instants:
        stays = next((commit.time for commit in timeline.commits if commit not in instants), None)
        why += consumers.passed_before(stays)
    blockers = _blockers((hold for hold in blocking if hold.since < _since(state, retained)), state, clock)
    plan = ArchivePlan(instants) if instants else None
    return replace(_decision(state, plan, tuple(why), first), blockers=blockers)


def _blockers(found_holds: Iterable[Hold], state: TableState, clock: Clock) -> tuple[Blocker, ...]:
    """Blockers for the holds of instants. Holds of options are part of the reason."""
    holdings = [
        Holding(hold.instant, f"what began at {hold.since} or later", f"as {hold.why}", hold.fix)
        for hold in found_holds
        if hold.instant is not None
    ]
    return blockers_of(holdings, state, clock, ConcurrencyOptions())


def checked(raw_options: RawOptions) -> Options:
    """The options of an archival. Raises ConfigError for those that contradict each other."""
    options = resolve(raw_options, keys.ARCHIVE_KEYS)
    if options[keys.MAX_COMMITS] <= options[keys.MIN_COMMITS]:
        raise ConfigError(
            f"{keys.MAX_COMMITS.name} must be greater than {keys.MIN_COMMITS.name}",
            found=f"{options[keys.MAX_COMMITS]} and {options[keys.MIN_COMMITS]}",
            fix="raise the first, or lower the second",
        )
    return options


def _since(state: TableState, retained: int) -> Time:
    """The first of the commits that would stay if nothing held archival back."""
    commits = state.timeline.commits
    return commits[-retained].time if len(commits) > retained else BEGINNING


def _last_clean(state: TableState) -> Time | None:
    cleans = state.timeline.completed(Action.CLEAN)
    if not cleans:
        return None
    return state.clean_result(cleans[-1]).earliest_to_retain or None


def _consumers(consumers: Claims, timeline: Timeline) -> Iterator[Hold]:
    """The slowest consumer needs all instants since the first commit that it has not read. It looks at cleans and rollbacks to
    notice that files are gone."""
    claim = consumers.slowest
    if claim is None:
        return
    since = claim.first.time if claim.first is not None else BEGINNING
    reader = f"of consumer {claim.consumer!r}" if claim.consumer else claim.reason
    yield Hold(since, f"changes since {since} are unread {reader}", claim.first, every=True, fix=claim.fix)


def _metadata_table(state: TableState) -> Iterator[Hold]:
    """Hudi's metadata table needs the instants since its last compaction: all, where there was none."""
    if not state.properties.has_metadata_table:
        return
    files = state.storage.list(f"{METADATA_TABLE}/{state.layout.folder}").files
    result = [instant for file in files if (instant := state.layout.parse(file)) is not None]
    last = max((i.time for i in result if i.is_completed and i.action is Action.COMMIT), default=None)
    if last is None:
        yield Hold(BEGINNING, "Hudi's metadata table was not compacted yet", every=True)
    elif not state.layout.names_tell_completion:
        yield Hold(last, f"Hudi's metadata table was last compacted at {last}", every=True)
    else:
        later = (i.time for i in state.timeline.commits if (i.completion_time or i.time) > last)
        since = next(later, None)
        if since is not None:
            yield Hold(since, f"Hudi's metadata table was last compacted at {last}", every=True)


def _commits(state: TableState, limit: int, option: str) -> Measure:
    return Measure(len(state.timeline.commits), limit, "commit", option)


def _nothing(state: TableState, why: Reason, hold: Hold | None = None) -> Decision[ArchivePlan]:
    return _decision(state, None, why, hold)


def _decision(state: TableState, plan: ArchivePlan | None, why: Reason, hold: Hold | None) -> Decision[ArchivePlan]:
    blocking_instant = str(hold.instant) if hold and hold.instant else None
    items = Items("archive", plan.instants if plan else (), plan.bytes if plan else 0, "instant", _item)
    return Decision(plan, why, stages=(ArchiveScope(len(state.timeline.commits), blocking_instant), items))


def _item(instant: Instant) -> Item:
    return Item(instant.file_name, instant.stamp[0], None, {"instant": instant.time, "action": str(instant.action)})

"""Planning a clean: which partitions to look at, what to remove, and why.

Only partitions that changed since the last clean are listed: a table may have ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from hoodie.changes.consumer_lag import claims
from hoodie.clock import Clock
from hoodie.config.key import Options, resolve
from hoodie.config.keys import clean as keys
from hoodie.config.keys import delete as delete_keys
from hoodie.config.keys.consumer import RETENTION_HOURS
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.errors import ConfigError
from hoodie.model.clean import CleanFile, CleanPlan, CleanResult
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import BEGINNING, Time
from hoodie.services.blockers import Hold, blockers_of
from hoodie.services.clean.blockers import (
    holds_of_consumer,
    holds_of_files,
    holds_of_history,
    holds_of_slices,
    kept_paths,
)
from hoodie.services.clean.retention import (
    KEEP_COMMITS,
    KEEP_VERSIONS,
    Retention,
    are_retained,
    earliest_by_commits,
    earliest_by_hours,
    oldest_writer,
    planned_files,
    planned_sources,
    superseded,
    unseen_by,
)
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, Deletion, weighed
from hoodie.services.measures import Cause, Measure, Reason, Trigger
from hoodie.services.stages import (
    CleanScope,
    Freed,
    Item,
    Items,
    OverdueTrash,
)
from hoodie.timeline import Action, Instant
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.trash import asides, until_of, until_text
from hoodie.view import TableState, TableView
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.savepoints import savepoints

SAVEPOINTS = "savepointed_timestamps"  # Hudi's own key of a clean's extra metadata
GRACE_UNTIL = "hoodie.delete.grace.until"  # a key of ours there: the files are set aside until then (UTC), not deleted
CONSUMER_FROM = (
    "hoodie.consumer.unread.from"  # a key of ours there: what this commit and later ones superseded was kept
)


@retried_when_missing
def decide_clean(state: TableState, raw_options: RawOptions, clock: Clock) -> Decision[CleanPlan]:
    """Plan a clean with the options of `hoodie.config.keys.clean`. Lists partitions, changes nothing.

    Raises ConfigError for options; CorruptTableError when a commit that is to be retained cannot be read;
    MissingFileError (see `TableView.check`).
    """
    options = resolve(raw_options, keys.CLEAN_KEYS)
    last_commit = state.timeline.last_commit
    if last_commit is None:
        return _nothing("the table has no commits")
    since = _since_clean(state, options)
    if since is not None and not since.reached:
        return _nothing(Trigger((since,), "clean"))
    policy = options[keys.POLICY]
    retention = _with_consumers(_retention(state, options, clock), state, options, clock)
    decision, file_holds = _nothing(retention.why), list[Hold]()
    if not retention.everything and (policy == KEEP_VERSIONS or retention.earliest is not None):
        saved = savepoints(state)
        partitions, why = _partitions(state, options, retention, last_clean(state), saved)
        view = TableView(state, partitions)
        decision, file_holds = (
            _plan(view, options, retention, (*why, *retention.why), last_commit, saved, _until(options, clock))
            if view.files
            else (_nothing(why), [])
        )
    over = [aside for aside in asides(state.storage) if aside.over(clock.now())]
    if over:
        decision = decision.with_stage(OverdueTrash(tuple(over)))
    holds = [*holds_of_history(state.timeline, retention), *file_holds]
    if policy != KEEP_VERSIONS or retention.everything:
        holds += holds_of_consumer(state.timeline, retention)
    return replace(
        decision, blockers=blockers_of(holds, state, clock, ConcurrencyOptions.of(options), Locking.of(options))
    )


def _since_clean(state: TableState, options: Options) -> Measure | None:
    """The commits that were completed since the last clean, beside those that the option asks for. None without the option, and
    without a clean: then one is always due."""
    cleans = state.timeline.completed(Action.CLEAN)
    if not options.is_set(keys.TRIGGER_COMMITS) or not cleans:
        return None
    last = cleans[-1].completion_time or cleans[-1].time
    since = sum((commit.completion_time or commit.time) > last for commit in state.timeline.commits)
    return Measure(since, options[keys.TRIGGER_COMMITS], "commit", keys.TRIGGER_COMMITS.name)


def last_clean(state: TableState) -> CleanResult | None:
    """The result, with its watermark, of the last completed clean."""
    cleans = state.timeline.completed(Action.CLEAN)
    return state.clean_result(cleans[-1]) if cleans else None


def _retention(state: TableState, options: Options, clock: Clock) -> Retention:
    policy = options[keys.POLICY]
    if policy == KEEP_VERSIONS:
        # Replaced groups have no newer versions; they keep the grace that versions would have given them.
        versions = options[keys.FILE_VERSIONS_RETAINED]
        grace = earliest_by_commits(state.timeline, versions)
        return Retention(
            grace.earliest, (are_retained(f"{counted(versions, 'version')} of each file group", versions),)
        )
    if policy == KEEP_COMMITS:
        return earliest_by_commits(state.timeline, options[keys.COMMITS_RETAINED])
    return earliest_by_hours(state.timeline, options[keys.HOURS_RETAINED], clock.now(), state.zone)


def _with_consumers(retention: Retention, state: TableState, options: Options, clock: Clock) -> Retention:
    """The retention with what named consumers have not read. Their positions are read only if something may go."""
    versions = options[keys.POLICY] == KEEP_VERSIONS
    if not versions and retention.earliest is None:
        return retention
    consumers = claims(state, clock.now(), options[RETENTION_HOURS])
    earliest = retention.earliest.time if retention.earliest is not None and not versions else None
    passed = consumers.passed_before(earliest)
    return replace(retention, why=(*retention.why, *passed)).kept_for(consumers.slowest)


def _partitions(
    state: TableState,
    options: Options,
    retention: Retention,
    last: CleanResult | None,
    saved: Sequence[Savepoint],
) -> tuple[list[str] | None, tuple[Cause, ...]]:
    """The partitions to look at, and why: all (None), or those in which something may have become removable since the last
    clean."""
    if not options[keys.INCREMENTAL]:
        return None, ("incremental planning is off: every partition is looked at",)
    if last is None:
        return None, ("first clean on this timeline: every partition is looked at",)
    versions = options[keys.POLICY] == KEEP_VERSIONS
    watermark = last.last_completed if versions else last.earliest_to_retain
    unread = Time.of(last.extra.get(CONSUMER_FROM, "")) if versions else BEGINNING
    if not watermark or not state.timeline.covers(min(watermark, unread or watermark)):
        return None, ("the last clean's watermark was archived: every partition is looked at",)
    deleted = set(filter(None, last.extra.get(SAVEPOINTS, "").split(","))) - {savepoint.instant for savepoint in saved}
    if deleted:
        return None, (f"savepoint {min(deleted)} was deleted: every partition is looked at",)
    changed: list[Instant] = []
    for instant in state.timeline.commits:
        time = instant.time
        if versions:
            # A commit may complete after the clean although it was requested before the last one that the clean saw.
            if time > watermark or (unread and time >= unread) or (instant.completion_time or BEGINNING) > last.start:
                changed.append(instant)
        elif retention.earliest is not None and watermark <= time < retention.earliest.time:
            changed.append(instant)
    if versions and retention.earliest is not None:  # groups that were replaced earlier and whose grace ends now
        changed.extend(i for i in state.timeline.completed(Action.REPLACE_COMMIT) if i.time < retention.earliest.time)
    if not changed:
        return [], (f"nothing became removable since the last clean ({last.start})", *retention.why)
    partitions = sorted(set().union(*(state.commit_metadata(instant).partitions for instant in changed)))
    commits = f"{counted(len(changed), 'commit')} since the last clean ({last.start})"
    return partitions, (f"{commits} changed {counted(len(partitions), 'partition')}",)


def _plan(
    view: TableView,
    options: Options,
    retention: Retention,
    why: Reason,
    last_commit: Instant,
    saved: Sequence[Savepoint],
    until: str | None,
) -> tuple[Decision[CleanPlan], list[Hold]]:
    """Decide what to remove, or to set aside `until` then, and list the files that other instants hold."""
    state = view.state
    view.check([group.partition for group in view.files])  # what is to be removed may be all that is left
    kept_files = kept_paths(view, saved)
    earliest = retention.earliest
    policy = options[keys.POLICY]
    time, versions = earliest.time if earliest else None, options[keys.FILE_VERSIONS_RETAINED]
    writer = oldest_writer(state.timeline)
    unseen = unseen_by(writer, state.timeline)
    unread = retention.unread
    needed = _earlier(unseen, unread.time if unread is not None else None)
    removable = list(superseded(view.groups, view.replaced, policy, time, versions, time, needed))
    file_holds = list(holds_of_files((file_slice for file_slice, _ in removable), kept_files))
    if policy == KEEP_VERSIONS and needed is not None:
        going = {s for s, _ in superseded(view.groups, view.replaced, policy, time, versions, time)}
        superseded_slices = {s for s, _ in superseded(view.groups, view.replaced, policy, time, versions, time, unseen)}
        if writer is not None:
            file_holds += holds_of_slices(writer, going - superseded_slices, "which may read them")
        if retention.claim is not None and unread is not None:
            stay = superseded_slices - {s for s, _ in removable}
            file_holds += holds_of_slices(unread, stay, retention.claim.reason, retention.claim.fix)
    files = planned_files(removable, (log for p in view.files for log in p.log_files), kept_files)
    with_sources = options[keys.DELETE_SOURCES]
    sources = planned_sources(removable, kept_files) if with_sources else []
    if files:  # what takes their place must be whole: a torn commit may yet be undone, and then they are needed
        for instant in state.timeline.commits:
            if earliest is None or instant.time >= earliest.time:
                state.commit_metadata(instant)
    if policy == KEEP_VERSIONS:
        earliest = None  # Hudi records none for this policy
    plan = CleanPlan(
        policy,
        tuple(files),
        earliest.time if earliest else None,
        str(earliest.action.completed_as) if earliest else None,
        last_commit.time,
        {
            **({SAVEPOINTS: ",".join(savepoint.instant for savepoint in saved)} if saved else {}),
            **({GRACE_UNTIL: until} if until and files else {}),
            **({CONSUMER_FROM: unread.time} if unread is not None and policy == KEEP_VERSIONS else {}),
        },
        tuple(sources),
    )
    sizes = list(_sizes(view))
    listed_bytes, caps = _weight(view, with_sources), Caps.of(options)
    count = len(plan.files) + len(plan.sources)
    deletion = weighed(
        count, plan.bytes, listed_bytes, caps, lambda: max(listed_bytes, _weight(TableView(state), with_sources))
    )
    scope = CleanScope(len(view.files), len(sizes), sum(sizes), policy, plan.earliest_to_retain)
    return _decision(plan, why, scope, deletion), file_holds


def _earlier(first: Time | None, other: Time | None) -> Time | None:
    return min((time for time in (first, other) if time is not None), default=None)


def _until(options: Options, clock: Clock) -> str | None:
    """Until when the files are kept aside; None when they are deleted."""
    hours = options[delete_keys.GRACE_HOURS]
    if hours and options[keys.DELETE_SOURCES]:
        raise ConfigError(
            f"Options {delete_keys.GRACE_HOURS.name} and {keys.DELETE_SOURCES.name} exclude each other",
            fix="keep one: a skeleton that is put back would lack its source file, which is deleted for good",
        )
    return until_text(clock.now() + timedelta(hours=hours)) if hours else None


def _sizes(view: TableView) -> Iterator[int]:
    for group in view.files:
        yield from (file.size for file in group.base_files)
        yield from (log.info.size for log in group.log_files)


def _weight(view: TableView, with_sources: bool) -> int:
    """Bytes of all data files, and of the source files of skeletons where these are deleted, too."""
    sources = (file.source for group in view.files for file in group.base_files) if with_sources else ()
    return sum(_sizes(view)) + sum(source.size for source in sources if source is not None)


def _nothing(why: Reason) -> Decision[CleanPlan]:
    return _decision(None, why, CleanScope())


def _decision(
    plan: CleanPlan | None, why: Reason, scope: CleanScope, deletion: Deletion | None = None
) -> Decision[CleanPlan]:
    if plan is None:
        return Decision(None, why, (scope, Items("remove", (), 0)))
    until = until_of(plan.extra.get(GRACE_UNTIL, ""))
    verb = "set aside" if until is not None else "remove"
    items = Items(verb, (*plan.files, *plan.sources), plan.bytes, item=_item)
    return Decision(plan, why, (scope, items, Freed(plan.bytes, until)), deletion)


def _item(file: CleanFile) -> Item:
    return Item(file.path, file.size, file.reason, {"file_group": file.file_id})

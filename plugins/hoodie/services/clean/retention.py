"""Retention policies of the cleaner, pure (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import takewhile

from hoodie.changes.consumer_lag import Claim
from hoodie.config.keys.clean import COMMITS_RETAINED
from hoodie.display import counted
from hoodie.model.clean import CleanFile
from hoodie.model.files import FileGroup, FileSlice, GroupId, LogFile
from hoodie.model.time import BEGINNING, Time
from hoodie.services.measures import Cause, Measure, TimelineLength
from hoodie.timeline import WRITE_ACTIONS, Instant, Timeline, format_time
from hoodie.view.future import Future

KEEP_COMMITS, KEEP_VERSIONS, KEEP_HOURS = "KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS"


@dataclass(frozen=True)
class Retention:
    """The beginning of the retained history.

    `earliest` is the earliest commit whose view stays readable (None: everything is retained, or the policy counts versions).
    `why` says why it is there. If the pending instant `held_by` holds it back, `unblocked` is where it would be.
    """

    earliest: Instant | None
    why: tuple[Cause, ...]
    held_by: Instant | None = None
    unblocked: Instant | None = None
    claim: Claim | None = None
    """The needs of the slowest consumer."""

    def kept_for(self, claim: Claim | None) -> Retention:
        """The retention with what a consumer needs: its history begins no later than the claim."""
        if claim is None:
            return self
        earliest, first = self.earliest, claim.first
        if first is None or (earliest is not None and first.time < earliest.time):
            return replace(self, earliest=first, why=(*self.why, "held back by a consumer"), claim=claim)
        return replace(self, claim=claim)

    @property
    def everything(self) -> bool:
        """True if nothing may go, as it is not known what a consumer needs."""
        return self.claim is not None and self.claim.first is None

    @property
    def unread(self) -> Instant | None:
        """The first commit that a consumer has not read."""
        return self.claim.first if self.claim is not None else None


def earliest_by_commits(timeline: Timeline, retained: int) -> Retention:
    """The first of the last `retained` completed commits, but never later than a pending write (its readers may need it)."""
    commits = timeline.commits
    if len(commits) <= retained:
        measure = Measure(len(commits), retained, "commit", COMMITS_RETAINED.name)
        return Retention(None, (TimelineLength(measure, "retained"),))
    return _not_past_pending(
        timeline, commits[len(commits) - retained], f"the last {are_retained(counted(retained, 'commit'), retained)}"
    )


def are_retained(named: str, count: int) -> str:
    """The kept commits or versions, `named` with their number, as the end of a sentence."""
    return f"{named} {'is' if count == 1 else 'are'} retained"


def earliest_by_hours(timeline: Timeline, hours: int, now: datetime, zone: tzinfo) -> Retention:
    """The first commit, by requested time, of those that were complete in the last `hours`, or were not yet.

    A superseded slice could be read until the newer commit was complete, so its hours count from then (decision 18). A commit of
    version 6 was complete when its file changed last.
    """
    try:
        horizon = format_time(now - timedelta(hours=hours), zone)
    except OverflowError:  # before the first year
        horizon = BEGINNING
    commits = timeline.commits
    later = [commit for commit in commits if max(commit.time, commit.completion_time or BEGINNING) >= horizon]
    first = later[0] if later else commits[-1] if commits else None
    ahead = Future.of(commits, now, zone)
    dated = f"; {counted(len(ahead.instants), 'commit')} dated later than now count as new" if ahead else ""
    if first is None or (later and first == commits[0]):
        return Retention(None, (f"no commit was complete more than {hours} h ago, with all before it{dated}",))
    return _not_past_pending(timeline, first, f"the last {hours} h are retained{dated}")


def _not_past_pending(timeline: Timeline, earliest: Instant, reason: str) -> Retention:
    first = next((i for i in timeline.pending if i.action.completed_as in WRITE_ACTIONS), None)
    if first is None:
        return Retention(earliest, (reason,))
    before = list(takewhile(lambda commit: _done_before(commit, first), timeline.commits))
    if before and before[-1].time >= earliest.time:
        return Retention(earliest, (reason,))
    return Retention(before[-1] if before else None, (f"held back by pending instant {first}",), first, earliest)


def oldest_writer(timeline: Timeline) -> Instant | None:
    """The oldest write under way. Pending plans do not count: their groups keep what they read."""
    return next((i for i in timeline.pending if i.action in WRITE_ACTIONS), None)


def unseen_by(writer: Instant | None, timeline: Timeline) -> Time | None:
    """The first commit that a write under way had not seen when it began, or that write itself; None: there is none.

    It reads what was current then.
    """
    if writer is None:
        return None
    return next((commit.time for commit in timeline.commits if not _done_before(commit, writer)), writer.time)


def _done_before(commit: Instant, pending: Instant) -> bool:
    """Return whether the writer of the pending instant has seen the commit: of two writers the one that began first may
    complete later. Completion times that come from a file's modification time do not count: they are of another clock."""
    completion = commit.completion_time
    return commit.time <= pending.time and (
        not completion or completion not in commit.file_name or completion <= pending.time
    )


def superseded(
    groups: Iterable[FileGroup],
    replaced: Mapping[GroupId, Instant],
    policy: str,
    earliest: Time | None,
    versions: int,
    replaced_before: Time | None,
    unseen: Time | None = None,
) -> Iterator[tuple[FileSlice, str]]:
    """Slices that no retained view needs, with the reason.

    By commits and hours: slices older than the newest one before `earliest`. By versions: slices after the newest `versions`, but
    for those that only a commit from `unseen` on superseded. For a group that was replaced before `replaced_before`: all slices.
    The newest slice of any other group stays.
    """
    for group in groups:
        replacing = replaced.get(group.group)
        if replacing is not None and replaced_before is not None and replacing.time < replaced_before:
            for file_slice in group.slices:
                yield file_slice, f"its file group was replaced by {replacing.time}"
            continue
        for place, file_slice in enumerate(group.slices[1:], 1):
            # Two files of one instant: which of them a lost attempt has left is not known. Neither supersedes the other.
            newer = next((s for s in group.slices[place - 1 :: -1] if s.base_instant > file_slice.base_instant), None)
            if newer is None:
                continue
            by_time = earliest is not None and newer.base_instant < earliest
            is_read = unseen is None or newer.base_instant < unseen
            is_superseded = place >= versions and is_read if policy == KEEP_VERSIONS else by_time
            if is_superseded:
                yield file_slice, f"superseded by {newer.base_instant}"


def planned_files(
    slices: Iterable[tuple[FileSlice, str]], logs: Iterable[LogFile], kept_files: Collection[str]
) -> list[CleanFile]:
    """The files to remove: base files and logs of the slices, and their change-data logs, but for those in `kept_files` (paths).

    `logs` are all log files; the change-data logs among them belong to the base file that their instant wrote.
    """
    changes: dict[tuple[GroupId, Time], list[LogFile]] = {}
    for log in logs:
        if log.is_cdc:
            changes.setdefault((log.group, log.time), []).append(log)
    result: list[CleanFile] = []
    for file_slice, reason in slices:
        base = file_slice.base_file
        files = [base.info] if base is not None else []
        files += [log.info for log in file_slice.log_files]
        files += [log.info for log in changes.get((file_slice.group, file_slice.base_instant), ())]
        if base is not None and base.path in kept_files:  # a savepoint holds it: then its logs stay too
            continue
        result.extend(
            CleanFile(info.path, file_slice.partition, file_slice.file_id, info.size, reason)
            for info in files
            if info.path not in kept_files
        )
    return result


def planned_sources(slices: Iterable[tuple[FileSlice, str]], kept_files: Collection[str]) -> list[CleanFile]:
    """The source files of the skeletons among the slices, but for those of skeletons in `kept_files` (paths)."""
    result = []
    for file_slice, reason in slices:
        base = file_slice.base_file
        if base is not None and base.source is not None and base.path not in kept_files:
            source = base.source
            result.append(CleanFile(source.uri, file_slice.partition, file_slice.file_id, source.size, reason))
    return result

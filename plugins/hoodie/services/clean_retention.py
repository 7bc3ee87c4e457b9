"""What the cleaner may remove: the retention policies, pure (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from hoodie.model.files import BaseFile, FileGroup, LogFile
from hoodie.model.services import CleanFile
from hoodie.timeline import WRITE_ACTIONS, Instant, Timeline, format_time, pad
from hoodie.view.slices import GroupId

KEEP_COMMITS, KEEP_VERSIONS, KEEP_HOURS = "KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS", "KEEP_LATEST_BY_HOURS"


@dataclass(frozen=True)
class Retention:
    """Where the retained history begins.

    `earliest` is the earliest commit whose view stays readable (None: everything is retained, or the policy counts versions).
    `reason` says in one line why it is there, and names what holds it back.
    """

    earliest: Instant | None
    reason: str


def earliest_by_commits(timeline: Timeline, retained: int) -> Retention:
    """The first of the last `retained` completed commits, but never later than a pending write (its readers may need it)."""
    commits = timeline.commits
    if len(commits) <= retained:
        return Retention(None, f"{len(commits)} commits are on the timeline and {retained} are retained")
    return _not_past_pending(timeline, commits[len(commits) - retained], f"the last {retained} commits are retained")


def earliest_by_hours(timeline: Timeline, hours: int, now: datetime, zone: tzinfo) -> Retention:
    """The first commit of the last `hours`. A slice that a commit before it had superseded is out of reach for that long."""
    horizon = format_time(now - timedelta(hours=hours), zone)
    later = [instant for instant in timeline.commits if pad(instant.time) >= horizon]
    if not timeline.commits or pad(timeline.commits[0].time) >= horizon:
        return Retention(None, f"no commit is older than {hours} h")
    first = later[0] if later else timeline.commits[-1]
    return _not_past_pending(timeline, first, f"the last {hours} h are retained")


def _not_past_pending(timeline: Timeline, wanted: Instant, reason: str) -> Retention:
    pending = [i for i in timeline.pending if i.action.completed_as in WRITE_ACTIONS]
    if pending and pad(pending[0].time) < pad(wanted.time):
        before = [i for i in timeline.commits if pad(i.time) <= pad(pending[0].time)]
        return Retention(before[-1] if before else None, f"held back by pending instant {pending[0]}")
    return Retention(wanted, reason)


def superseded(
    groups: Iterable[FileGroup],
    replaced: Mapping[GroupId, Instant],
    policy: str,
    earliest: str | None,
    versions: int,
    replaced_before: str | None,
) -> Iterator[tuple[BaseFile, str]]:
    """Base files that no retained view needs, with the reason.

    By commits and hours: slices older than the newest one before `earliest`. By versions: slices after the newest
    `versions`. Of a group that was replaced before `replaced_before`: all slices. The newest slice of any other group stays.
    """
    for group in groups:
        replacing = replaced.get((group.partition, group.file_id))
        if replacing is not None and replaced_before is not None and pad(replacing.time) < pad(replaced_before):
            for file_slice in group.slices:
                if file_slice.base_file is not None:
                    yield file_slice.base_file, f"its file group was replaced by {replacing.time}"
            continue
        for place, file_slice in enumerate(group.slices[1:], 1):
            newer = group.slices[place - 1]
            if policy == KEEP_VERSIONS:
                gone = place >= versions
            else:
                gone = earliest is not None and pad(newer.base_instant) < pad(earliest)
            if gone and file_slice.base_file is not None:
                yield file_slice.base_file, f"superseded by {newer.base_instant}"


def planned_files(
    files: Iterable[tuple[BaseFile, str]], logs: Iterable[LogFile], kept: Collection[str]
) -> list[CleanFile]:
    """The files to remove: base files and the change-data logs of the same slices, but for those in `kept` (paths)."""
    by_slice: dict[tuple[str, str, str], list[LogFile]] = {}
    for log in logs:
        by_slice.setdefault((log.partition, log.file_id, log.time), []).append(log)
    result = []
    for base, reason in files:
        if base.path in kept:
            continue
        result.append(CleanFile(base.path, base.partition, base.file_id, base.size, reason))
        logs_of_slice = by_slice.get((base.partition, base.file_id, base.instant), ())
        result.extend(
            CleanFile(log.path, log.partition, log.file_id, log.info.size, reason)
            for log in logs_of_slice
            if log.path not in kept
        )
    return result

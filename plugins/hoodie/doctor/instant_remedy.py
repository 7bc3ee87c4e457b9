"""Remedies for a completed instant that cannot be read, and of which there is no copy."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from hoodie.doctor.facts import Facts, Unreadable
from hoodie.doctor.file_remedy import way_to_before
from hoodie.errors import HoodieError, MissingFileError, unschedule_fix
from hoodie.model.files import GroupId
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.quarantine import FOLDER
from hoodie.view.pending_groups import clustering_plan

_NOT_ALONE = "Without one, its rows cannot be taken back alone: {reason}. {way}"
_NEW_TABLE = "Load its source into a new table"
_WAITING = " The load replaces each partition of the files that it finds, as an overwrite of the whole table does not."
_AS_UPSERT = (
    " A load without `--operation` is an upsert: rows that an overwrite had removed stay, until you load its files alone with "
    "`--operation insert_overwrite`, which removes rows that later loads wrote to their partitions"
)
_COMMANDS = {Action.COMPACTION: "compact", Action.LOG_COMPACTION: "compact", Action.CLUSTERING: "cluster"}
"""The services that carry out plans which only move rows."""


def without_copy(facts: Facts, unreadable: Unreadable) -> str:
    """The way that takes the instant back, with what is lost by it; or the reason why there is none."""
    state, instant = facts.state, unreadable.instant
    move = _moved(facts, [unreadable.path])
    if instant.action is Action.SAVEPOINT:
        return _savepoint_again(facts, unreadable)
    if instant.action is Action.RESTORE:
        return f"Without one, move it aside by {move}, then `hudi-services doctor --fix`, which ends the restore by its plan"
    if instant.action.completed_as not in WRITE_ACTIONS:
        return "Without one, move it and its .inflight file out of the timeline, and make it again"
    later = [commit.time for commit in state.timeline.commits if commit.time > instant.time]
    planned = _planned_as(facts, instant)
    repeated = f".{_AS_UPSERT}" if instant.action is Action.REPLACE_COMMIT and planned is None else ""
    is_compaction = planned in (Action.COMPACTION, Action.LOG_COMPACTION)
    if _is_cleaned(facts, instant):
        return _NOT_ALONE.format(reason="a clean has removed files that it had replaced, or may have", way=_NEW_TABLE)
    if later and not is_compaction and state.properties.is_merge_on_read and not state.layout.logs_tell_writer:
        return _NOT_ALONE.format(
            reason="later logs may need its files", way=f"{_before(facts, instant, move)}{repeated}"
        )
    if instant.action is Action.REPLACE_COMMIT and _is_built_on(facts, instant, later):
        reason = "later commits wrote to its file groups, and those that it replaced would be read beside them"
        return _NOT_ALONE.format(reason=reason, way=f"{_before(facts, instant, move)}{repeated}")
    if is_compaction and _has_newer_base(facts, instant):
        if any(
            log.time == instant.time for folder in facts.files for log in folder.log_files
        ):  # version 6: they need the plan
            return _NOT_ALONE.format(reason="later logs may need its files", way=_before(facts, instant, move))
        return (
            f"Without one, move it aside by {move}, and give its plan up: {unschedule_fix(instant.time)}. No row is lost: later "
            "commits wrote files in place of its own, and the next compaction plans what is left"
        )
    if planned is not None:
        return (
            f"Without one, move it aside by {move}. No row is lost: the {planned} is pending again, with the files that it had "
            f"read, and the next `hudi-services {_COMMANDS[planned]}` carries out its plan once more"
        )
    back, load = "", _load(facts, instant, later)
    if instant.action is Action.REPLACE_COMMIT:
        back = " Rows that it had replaced are back, until you repeat its operation."
        if not later and _groups(facts, instant):  # only an overwrite writes files: what drops partitions has none
            load += " --operation insert_overwrite"
            back += _WAITING
        else:
            back += f"{_AS_UPSERT}."
    return (
        f"Without one, move it aside by {move}. The instant is then pending: `hudi-services rollback --instant {instant.time}` "
        f"takes it back. The rows that it wrote are gone, unless a later commit has written them again.{back} So load their "
        f"source again, such as by `hudi-services {load}`"
    )


def _load(facts: Facts, instant: Instant, later: Sequence[Time]) -> str:
    """The load that brings the rows of the instant again. The position of a later load has its source, too, so that a
    plain load would find nothing new."""
    if not later:
        return "ingest"
    before = _last_before(facts, instant.time)
    return f"ingest --reload-since {before}" if before is not None else "ingest --reload"


def _last_before(facts: Facts, time: Time) -> Time | None:
    """The last commit before an instant that can be read."""
    return max((commit for commit in facts.commits if commit < time), default=None)


def way_before(facts: Facts, time: Time, first: str = "") -> str:
    """The way that takes the table back to before an instant, after a `first` step; a new table where a clean has begun to remove
    those files."""
    before = _last_before(facts, time)
    if before is None or any(clean.time > before for clean in facts.state.timeline.completed(Action.CLEAN)):
        return _NEW_TABLE
    return f"{first}{way_to_before(before)}"


def _before(facts: Facts, instant: Instant, move: str) -> str:
    return way_before(facts, instant.time, f"Move it aside by {move}, and ")


def _savepoint_again(facts: Facts, unreadable: Unreadable) -> str:
    """A savepoint is of files that its commit names: it is made again as it was, if that commit is still there."""
    time = unreadable.instant.time
    paths = [unreadable.path, facts.state.layout.inflight_path(time, Action.SAVEPOINT)]
    present = _timeline_files(facts)
    move = _moved(facts, [path for path in paths if path in present])
    return (
        f"Without one, move it aside by {move}, and make it again: `hudi-services savepoint create --instant {time}`. No clean "
        "may run in between"
    )


def _planned_as(facts: Facts, instant: Instant) -> Action | None:
    """The kind of a write that only moves rows, by its plan; None for any other, and if there is no plan."""
    layout, present = facts.state.layout, _timeline_files(facts)
    for action in (Action.COMPACTION, Action.LOG_COMPACTION, layout.clustering):
        if action.completed_as is not instant.action.completed_as:
            continue
        if layout.requested_path(instant.time, action) not in present:
            continue
        if action is not Action.REPLACE_COMMIT or _plans_clustering(facts, instant):
            return Action.CLUSTERING if action is layout.clustering else action
    return None


def _plans_clustering(facts: Facts, instant: Instant) -> bool:
    try:
        return clustering_plan(facts.state, instant) is not None
    except HoodieError:  # torn, too
        return False


def _timeline_files(facts: Facts) -> frozenset[str]:
    return frozenset(file.path for file in facts.storage.list(facts.state.layout.folder).files)


def _groups(facts: Facts, instant: Instant) -> set[GroupId]:
    """The file groups to which it wrote base files."""
    return {
        GroupId(folder.partition, file.file_id)
        for folder in facts.files
        for file in folder.base_files
        if file.instant == instant.time
    }


def _is_built_on(facts: Facts, instant: Instant, later: Sequence[Time]) -> bool:
    """True if a later commit wrote to its file groups, or cannot be read."""
    groups = _groups(facts, instant)
    bodies = [facts.commits.get(time) for time in later]
    return any(body is None or any(stat.group in groups for stat in body.stats) for body in bodies)


def _has_newer_base(facts: Facts, instant: Instant) -> bool:
    """True if a later commit wrote a base file to one of its file groups: then its plan cannot be carried out again."""
    groups = _groups(facts, instant)
    return any(
        file.instant > instant.time and GroupId(folder.partition, file.file_id) in groups
        for folder in facts.files
        for file in folder.base_files
    )


def _is_cleaned(facts: Facts, instant: Instant) -> bool:
    """True if a clean after the instant has removed older files of the groups that it wrote, or whole groups if it replaced
    some, or cannot be read: these groups would lose rows of earlier commits, too."""
    groups = _groups(facts, instant)
    replaces = instant.action is Action.REPLACE_COMMIT
    left = {GroupId(folder.partition, file.file_id) for folder in facts.files for file in folder.files}
    for clean in facts.state.timeline.completed(Action.CLEAN):
        if (clean.completion_time or clean.time) < instant.time:
            continue
        try:
            deleted = facts.state.clean_result(clean).deleted
        except (HoodieError, MissingFileError, FileNotFoundError):
            return True
        for partition, names in deleted.items():
            for name in names:
                parsed = BaseFileName.parse(name) or LogFileName.parse(name)
                group = GroupId(partition, parsed.file_id) if parsed is not None else None
                if group is not None and (group in groups or (replaces and group not in left)):
                    return True
    return False


def _moved(facts: Facts, paths: Sequence[str]) -> str:
    """The command that moves files of the table to its quarantine."""
    base_path = facts.state.storage.base_path
    scheme, _, rest = base_path.rpartition("://")
    if scheme in ("s3", "s3a"):
        names = [(f"s3://{rest}/{path}", f"s3://{rest}/{FOLDER}/{path}") for path in paths]
        return f"`{' && '.join(f'aws s3 mv {shlex.quote(old)} {shlex.quote(new)}' for old, new in names)}`"
    if scheme not in ("", "file"):
        return f"a copy to {FOLDER}/{paths[0]}, and a delete"
    folder = PurePosixPath(rest, FOLDER)
    files = " ".join(shlex.quote(str(PurePosixPath(rest, path))) for path in paths)
    return f"`mkdir -p {shlex.quote(str(folder))} && mv {files} {shlex.quote(f'{folder}/')}`"

"""Remedies for a completed instant that cannot be read, and of which there is no copy."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from hoodie.doctor.facts import Facts, Unreadable
from hoodie.errors import HoodieError, MissingFileError
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.quarantine import FOLDER

_NEW_TABLE = "Without one, its rows cannot be taken back alone: {reason}. Load its source into a new table"


def without_copy(facts: Facts, unreadable: Unreadable) -> str:
    """The way that takes the instant back, with what is lost by it; or the reason why there is none."""
    state, instant = facts.state, unreadable.instant
    if instant.action.completed_as not in WRITE_ACTIONS:
        return "Without one, move it and its .inflight file out of the timeline, and make it again"
    if (
        state.properties.is_merge_on_read
        and not state.layout.logs_tell_writer
        and any(instant.time < time for time in facts.commits)
    ):
        return _NEW_TABLE.format(reason="later logs may need its files")
    if _is_cleaned(facts, instant):
        return _NEW_TABLE.format(reason="a clean has removed files that it had replaced, or may have")
    return (
        f"Without one, move it aside by {_move(state.storage.base_path, unreadable.path)}. The instant is then pending, and "
        "`hudi-services doctor --fix` rolls it back. The rows that it wrote are gone, unless a later commit has written them "
        "again, so load their source again, such as by `hudi-services ingest`"
    )


def _is_cleaned(facts: Facts, instant: Instant) -> bool:
    """True if a clean after the instant has removed older files of the groups that it wrote, or cannot be read: these groups
    would lose rows of earlier commits, too."""
    groups = {
        (folder.partition, file.file_id)
        for folder in facts.files
        for file in folder.base_files
        if file.instant == instant.time
    }
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
                if parsed is not None and (partition, parsed.file_id) in groups:
                    return True
    return False


def _move(base_path: str, path: str) -> str:
    """The command that moves a file of the table to its quarantine."""
    scheme, _, rest = base_path.rpartition("://")
    if scheme in ("s3", "s3a"):
        names = (f"s3://{rest}/{path}", f"s3://{rest}/{FOLDER}/{path}")
        return f"`aws s3 mv {' '.join(map(shlex.quote, names))}`"
    if scheme not in ("", "file"):
        return f"a copy to {FOLDER}/{path}, and a delete"
    file, folder = PurePosixPath(rest, path), PurePosixPath(rest, FOLDER)
    return f"`mkdir -p {shlex.quote(str(folder))} && mv {shlex.quote(str(file))} {shlex.quote(f'{folder}/')}`"

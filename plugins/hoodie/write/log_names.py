"""How the next log file of a slice is called (format notes, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping

from hoodie.model.files import FileSlice, GroupId
from hoodie.model.names import LogFileName
from hoodie.timeline import Instant
from hoodie.view import TableState


def next_log_name(
    state: TableState, instant: str, file_slice: FileSlice, compacting: Mapping[GroupId, Instant]
) -> LogFileName:
    """The name without its write token, which only the task knows.

    Layout 2: the instant that writes. Layout 1: the instant of the slice, or of the pending compaction that will make the next
    one, and a version that no log of that slice has yet; every write of ours is a file of its own.
    """
    if state.layout.version != 1:
        return LogFileName(file_slice.file_id, instant, 1, "")
    waiting = compacting.get(file_slice.group)
    time = waiting.time if waiting is not None else file_slice.base_instant
    versions = [log.version for log in file_slice.log_files if log.time == time]
    return LogFileName(file_slice.file_id, time, max(versions, default=0) + 1, "")

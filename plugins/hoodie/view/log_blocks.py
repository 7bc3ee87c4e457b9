"""Valid blocks of a slice's logs (format notes, section 6.5)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from enum import Enum

from hoodie.clock import SystemClock
from hoodie.errors import CorruptFileError
from hoodie.formats.log import BlockType, Header, LogBlock, scan_blocks
from hoodie.model.files import FileSlice, LogFile
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.timeline import Layout, Timeline
from hoodie.view.state import load_state

_log = logging.getLogger(__name__)


class LogCheck(Enum):
    """The damaged logs that are refused.

    OWN is for tables in which one write makes one log, from version 8 on: a log of a commit with a damaged block, and one of an
    archived commit without a block. SHARED is for logs that several writers append to, where one that died may have left a torn
    block: a log with a damaged block, and without any of a commit that has written rows into it.
    """

    NONE = "none"
    OWN = "own"
    SHARED = "shared"


def log_check(layout: Layout, *, needed: bool = True) -> LogCheck:
    """Return the check for the logs of a table."""
    if not needed:
        return LogCheck.NONE
    return LogCheck.OWN if layout.logs_tell_writer else LogCheck.SHARED


def valid_blocks(
    storage: Storage,
    timeline: Timeline,
    file_slice: FileSlice,
    as_of: Time | None = None,
    *,
    check: LogCheck = LogCheck.NONE,
) -> list[LogBlock]:
    """Data and delete blocks of committed instants, not later than `as_of`, in the order in which they are applied.

    Blocks that were rolled back or compacted into another are left out, and so are damaged ones, which are reported. Raises
    CorruptFileError for logs that `check` refuses. `hoodie.view.missing_files` compares the size of logs of the active timeline.
    A cut between two blocks would be known only from the archive, which is too dear for each read: `doctor --deep` looks there.
    """
    blocks = [(log, blocks_of(storage, log)) for log in file_slice.log_files]
    if check is LogCheck.OWN:
        _refuse_damaged(storage, timeline, blocks, as_of)
    if check is LogCheck.SHARED:
        _refuse_lost(storage, timeline, blocks, as_of)
    result = [block for _, own in blocks for block in own]
    for block in result:
        if block.kind is BlockType.CORRUPT:
            _log.warning(
                "%s/%s: %d bytes from byte %d on are not a log block: passed over, as Hudi does",
                storage.base_path,
                block.path,
                block.content_length,
                block.offset,
            )
    return counting(result, timeline, as_of)


def _refuse_damaged(
    storage: Storage, timeline: Timeline, blocks: Sequence[tuple[LogFile, Sequence[LogBlock]]], as_of: Time | None
) -> None:
    for log, own in blocks:
        if (as_of is not None and log.time > as_of) or not timeline.is_committed(log.time):
            continue
        if not own and log.time not in timeline.commit_times:
            raise _damaged(storage, log, f"no log block of commit {log.time}")
        if not _has_other_writers(log, own, timeline):
            for block in own:
                if block.kind is BlockType.CORRUPT:
                    raise _damaged(storage, log, f"no log block of commit {log.time} from byte {block.offset:,} on")
                if block.instant != log.time:
                    raise _damaged(
                        storage, log, f"no log block of commit {log.time}, but another one, at byte {block.offset:,}"
                    )


def _refuse_lost(
    storage: Storage, timeline: Timeline, blocks: Sequence[tuple[LogFile, Sequence[LogBlock]]], as_of: Time | None
) -> None:
    torn = {log.path: log for log, own in blocks if any(block.kind is BlockType.CORRUPT for block in own)}
    if not torn:
        return
    instants = {log.path: {block.instant for block in own} for log, own in blocks}
    state = load_state(storage, SystemClock())
    for commit in state.timeline.commits:
        if commit.time not in timeline.commit_times or (as_of is not None and commit.time > as_of):
            continue
        for stat in state.commit_metadata(commit).stats:
            if stat.path in torn and (stat.num_writes or stat.num_deletes) and commit.time not in instants[stat.path]:
                raise _damaged(storage, torn[stat.path], f"no log block of commit {commit.time}, which wrote into it")


def _has_other_writers(log: LogFile, blocks: Sequence[LogBlock], timeline: Timeline) -> bool:
    """True for a log from before the table's upgrade to version 8, in which one of several writers may have left a torn block.

    In an earlier state of the table its writer may not be complete yet.
    """
    pending = {instant.time for instant in timeline.pending}
    return any(
        block.kind is BlockType.COMMAND
        or (
            block.kind is not BlockType.CORRUPT
            and block.instant != log.time
            and (block.instant in pending or timeline.is_committed(block.instant))
        )
        for block in blocks
    )


def _damaged(storage: Storage, log: LogFile, damage: str) -> CorruptFileError:
    return CorruptFileError(
        f"A log file of table {storage.base_path} is damaged",
        found=f"{log.path} has {log.info.size:,} bytes and {damage}",
        fix="restore it from a copy, or, where `hudi-services doctor --deep` says that its commit does not name it, add "
        "`--fix`; nothing was changed. The read option hoodie.read.check.files=false gives the rest of the file",
    )


def blocks_of(storage: Storage, log: LogFile) -> list[LogBlock]:
    """All blocks of a log file, whether they count or not, but those of lost attempts (`LogFile.foreign`)."""
    return [block for block in scan_blocks(storage, log.path) if block.instant not in log.foreign]


def counting(blocks: Sequence[LogBlock], timeline: Timeline, as_of: Time | None = None) -> list[LogBlock]:
    """The valid blocks, as `valid_blocks` gives them, among all blocks of a slice in the order of its logs."""
    rolled_back = {block.headers.get(Header.TARGET_INSTANT_TIME) for block in blocks if block.kind is BlockType.COMMAND}
    valid = []
    for block in blocks:
        if block.kind not in (BlockType.COMMAND, BlockType.CORRUPT) and block.instant not in rolled_back:
            in_time = as_of is None or block.instant <= as_of
            if in_time and timeline.is_committed(block.instant):
                valid.append(block)
    return list(_without_compacted(valid))


def _without_compacted(blocks: list[LogBlock]) -> Iterator[LogBlock]:
    """The blocks of a log compaction stand for those of the instants they name, at the place of the last of these.

    A log compaction may have taken the blocks of an earlier one. A block whose instants are in another slice is passed over: a
    compaction that was scheduled in between took these, and perhaps later ones that must win.
    """
    result: dict[str, list[LogBlock]] = {}
    for block in blocks:
        result.setdefault(block.instant, []).append(block)
    into: dict[str, str] = {}
    instants: list[str] = []
    for instant in reversed(result):
        times = result[instant][0].headers.get(Header.COMPACTED_BLOCK_TIMES)
        stands = into.get(instant, instant)
        if times is not None:
            into.update(dict.fromkeys(map(str.strip, times.split(",")), stands))
        elif stands not in instants:
            instants.append(stands)
    for instant in reversed(instants):
        yield from result[instant]

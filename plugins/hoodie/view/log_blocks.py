"""Which blocks of a slice's logs count (format notes, section 6.5)."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from hoodie.formats.log import BlockType, Header, LogBlock, scan_blocks
from hoodie.model.files import FileSlice
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline, pad

_log = logging.getLogger(__name__)


def valid_blocks(
    storage: Storage, timeline: Timeline, file_slice: FileSlice, as_of: str | None = None
) -> list[LogBlock]:
    """Data and delete blocks of committed instants, not later than `as_of`, in the order in which they are applied.

    Blocks that were rolled back or compacted into another are left out, and so are damaged ones, which are reported.
    """
    found = [block for log in file_slice.log_files for block in scan_blocks(storage, log.path)]
    rolled_back = {block.headers.get(Header.TARGET_INSTANT_TIME) for block in found if block.kind is BlockType.COMMAND}
    valid = []
    for block in found:
        if block.kind is BlockType.CORRUPT:
            _log.warning(
                "%s/%s: %d bytes from byte %d on are no log block: passed over, as Hudi does",
                storage.base_path,
                block.path,
                block.content_length,
                block.offset,
            )
        elif block.kind is not BlockType.COMMAND and block.instant not in rolled_back:
            in_time = as_of is None or pad(block.instant) <= pad(as_of)
            if in_time and timeline.is_committed(block.instant):
                valid.append(block)
    return list(_without_compacted(valid))


def _without_compacted(blocks: list[LogBlock]) -> Iterator[LogBlock]:
    """A block of a log compaction stands for the blocks of the instants it names, at the place of the last of them."""
    compacted: dict[str, LogBlock] = {}
    for block in blocks:
        for instant in block.headers.get(Header.COMPACTED_BLOCK_TIMES, "").split(","):
            if instant:
                compacted[instant.strip()] = block
    placed = {id(compacted[block.instant]): block for block in blocks if block.instant in compacted}
    for block in blocks:
        by = compacted.get(block.instant)
        if by is None and id(block) not in placed:
            yield block
        elif by is not None and placed[id(by)] is block:
            yield by

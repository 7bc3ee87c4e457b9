"""Command blocks (format notes, section 6.3): version 6 rolls blocks back by them in a log that has blocks of other instants.

On a file system that supports it, Hudi's writers append, so that a log has blocks of several instants and cannot be deleted. A
log with one command block of type ROLLBACK, anywhere in the file slice, makes readers pass over all blocks of an instant.
"""

from __future__ import annotations

from collections.abc import Collection

from hoodie.errors import MissingFileError
from hoodie.formats.log import BlockType, Header, encode_block, scan_blocks
from hoodie.model.names import LogFileName
from hoodie.model.rollback import SharedLogs
from hoodie.model.time import Time
from hoodie.storage.base import Storage, join
from hoodie.storage.idempotent import create_own

_ROLLBACK = "0"  # place in HoodieCommandBlockTypeEnum
_TOKEN = "1-0-1"  # Hudi's own write token outside of a task


def is_shared(storage: Storage, path: str, instant: Time) -> bool:
    """Return whether a log holds blocks of other instants than this one; False for a log that is gone."""
    try:
        return any(block.instant not in (instant, "") for block in scan_blocks(storage, path))
    except MissingFileError:
        return False


def shared_logs(storage: Storage, paths: Collection[str]) -> tuple[SharedLogs, ...]:
    """Logs of version 6, by file slice."""
    result: dict[tuple[str, str, Time], dict[str, int]] = {}
    for path in sorted(paths):
        partition, _, name = path.rpartition("/")
        log, info = LogFileName.parse(name), storage.info(path)
        if log is not None and info is not None:
            result.setdefault((partition, log.file_id, log.time), {})[path] = info.size
    return tuple(SharedLogs(*of_slice, logs) for of_slice, logs in result.items())


def hide_blocks(storage: Storage, shared: SharedLogs, instant: Time, rollback: Time) -> tuple[str, int]:
    """Put the command block that hides the blocks of `instant` into the slice, unless there is one.

    Safe to repeat. Returns the path of its log and the size of that in bytes. Call it under the lock.
    """
    logs = [
        (log.version, file)
        for file in storage.list(shared.partition).files
        if (log := LogFileName.parse(file.name)) is not None
        and (log.file_id, log.time, log.is_cdc) == (shared.file_id, shared.base_instant, False)
    ]
    for _, file in logs:
        if any(
            _hides(block.kind, block.headers.get(Header.TARGET_INSTANT_TIME), instant)
            for block in scan_blocks(storage, file.path)
        ):
            return file.path, file.size
    version = max((version for version, _ in logs), default=0) + 1
    path = join(shared.partition, str(LogFileName(shared.file_id, shared.base_instant, version, _TOKEN)))
    headers = {Header.TARGET_INSTANT_TIME: instant, Header.INSTANT_TIME: rollback, Header.COMMAND_BLOCK_TYPE: _ROLLBACK}
    content = encode_block(BlockType.COMMAND, headers, b"")
    create_own(storage, path, content)
    return path, len(content)


def _hides(kind: BlockType, target: str | None, instant: Time) -> bool:
    return kind is BlockType.COMMAND and target == instant

"""The table's lock: the file `.hoodie/lock`, as Hudi's FileSystemBasedLockProvider has it (format notes, section 13).

One writer at a time. The file is created exclusively, so Hudi's writers that use the same provider wait for us and we for
them. It tells who took it; a lock whose process is provably dead is taken over, any other is broken only by hand. (Hudi's
own lock file is empty. Hudi's `hoodie.write.lock.filesystem.expire` must stay 0, its default: else Hudi takes away a lock that
was taken that many minutes ago, whoever still works under it.)
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict

from hoodie.clock import Clock
from hoodie.errors import CorruptTableError, LockHeldError
from hoodie.storage.base import Storage
from hoodie.storage.once import create_own
from hoodie.transaction.lock_owner import LockOwner
from hoodie.transaction.recovery import recovered

_log = logging.getLogger(__name__)

LOCK = ".hoodie/lock"
_SERVICE_LOCKS = ".hoodie/.locks"
_POLL_SECONDS = 0.5


@contextmanager
def table_lock(storage: Storage, clock: Clock, purpose: str, wait_ms: int) -> Iterator[None]:
    """Hold the table's lock for the block.

    Waits up to `wait_ms` for another owner, then raises LockHeldError that shows the owner and the lock's age.
    """
    with _file_lock(storage, clock, LOCK, purpose, wait_ms):
        yield


@contextmanager
def service_lock(storage: Storage, clock: Clock, name: str, wait_ms: int) -> Iterator[None]:
    """Hold a lock of one piece of work, such as the execution of one plan: writers do not wait for it."""
    with _file_lock(storage, clock, f"{_SERVICE_LOCKS}/{name}.lock", name, wait_ms):
        yield


@contextmanager
def _file_lock(storage: Storage, clock: Clock, path: str, purpose: str, wait_ms: int) -> Iterator[None]:
    owner = LockOwner.of_this_process(str(clock.uuid()), purpose)
    entry = {"lockCreateTime": clock.now().isoformat(), "lockThreadName": purpose, **asdict(owner)}
    content = json.dumps(entry, indent=2).encode()
    owner.hold()
    try:
        _acquire(storage, clock, path, content, wait_ms)
        try:
            yield
        finally:
            _release(storage, path, content)
    finally:
        owner.release()


def held_locks(storage: Storage) -> dict[str, str]:
    """The locks of a table and its services: their paths, and what they say of their holders."""
    paths = [LOCK, *(file.path for file in storage.list(_SERVICE_LOCKS).files if file.name.endswith(".lock"))]
    contents = {path: _read(storage, path) for path in paths}
    return {path: content.decode(errors="replace") for path, content in contents.items() if content is not None}


def break_lock(storage: Storage, path: str) -> None:
    """Remove a lock whoever holds it: for an operator who knows that the owner is gone."""
    storage.delete(path)


def _acquire(storage: Storage, clock: Clock, path: str, content: bytes, wait_ms: int) -> None:
    waited = 0.0
    while True:
        with suppress(FileExistsError):
            create_own(storage, path, content)
            return
        if _take_over(storage, path, content):
            continue
        if waited * 1000 >= wait_ms:
            raise _held_error(storage, clock, path, waited)
        clock.sleep(_POLL_SECONDS)
        waited += _POLL_SECONDS


def _take_over(storage: Storage, path: str, own: bytes) -> bool:
    """Remove the lock, or the claim to one, when its owner is certainly dead; True when it is worth trying again at once."""
    content = _read(storage, path)
    if content is None:
        return True
    owner = LockOwner.parse(content)
    if owner is None or not owner.is_dead():
        return False
    # Of those who find it dead one may remove it: another's late removal would hit the lock that the first has taken by then.
    claim = f"{path}.{owner.token}"
    try:
        create_own(storage, claim, own)
    except FileExistsError:
        return _take_over(storage, claim, own)  # a claim of the dead is removed in the same way, and by one
    _delete_lock(storage, path, content)
    storage.delete(claim)
    if path.endswith("lock"):  # not a claim's
        recovered(
            f"took over the lock {path} of pid {owner.pid} on host {owner.host} ({owner.purpose}), which had ended"
        )
    return True


def _release(storage: Storage, path: str, content: bytes) -> None:
    """Delete the own lock. What was done under it is done: a failure is told, and the lock of a process that has ended, or that
    does not hold it any more, is taken over."""
    try:
        _delete_lock(storage, path, content)
    except Exception as error:  # noqa: BLE001 - whatever a storage raises
        _log.warning("The lock %s of %s could not be removed: %s", path, storage.base_path, error)


def _delete_lock(storage: Storage, path: str, content: bytes) -> None:
    """Delete the lock if it is still this one."""
    if _read(storage, path) == content:
        storage.delete(path)


def _read(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.read(path)
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise CorruptTableError(
            f"The lock {path} of table {storage.base_path} is a folder",
            found=str(error),
            fix="no writer makes one: look what is in it, and remove it by hand",
        ) from error


def _held_error(storage: Storage, clock: Clock, path: str, waited: float) -> LockHeldError:
    info = storage.info(path)
    age = f"{clock.now().timestamp() - info.modified_ms / 1000:.0f} s old" if info else "released just now"
    content = " ".join((_read(storage, path) or b"").decode(errors="replace").split())
    return LockHeldError(
        f"Table {storage.base_path} is locked by another writer, waited {waited:.0f} s",
        found=f"lock {path}, {age}: {content[:500] or '(empty)'}",
        fix="wait for that writer; if it is certainly gone, remove the lock with `hudi-services unlock`",
    )

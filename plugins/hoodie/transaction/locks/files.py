"""A lock that is a file, as Hudi's FileSystemBasedLockProvider has it (format notes, section 13).

One writer at a time. The file is created exclusively, so Hudi's writers that use the same provider wait for us and we for them.
It names its owner; a lock whose process is provably dead is taken over, any other is broken only by hand. (Hudi's own lock file
is empty. Hudi's `hoodie.write.lock.filesystem.expire` must stay 0, its default: with another value Hudi takes away a lock of that
many minutes, even from a living writer.)
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256

from hoodie.clock import Clock
from hoodie.display import one_line
from hoodie.errors import CorruptTableError, LockHeldError, LockLostError
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own
from hoodie.transaction.locks.base import HeldLock, Patience, held_by_another
from hoodie.transaction.locks.owner import LockOwner
from hoodie.transaction.recovery import recovered

_log = logging.getLogger(__name__)

LOCK = ".hoodie/lock"


@dataclass(frozen=True)
class FileLock:
    """The lock that is the file `path` of a table."""

    storage: Storage
    clock: Clock
    path: str = LOCK

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """See `LockProvider.acquire`."""
        owner = LockOwner.of_this_process(str(self.clock.uuid()), purpose)
        entry = {"lockCreateTime": self.clock.now().isoformat(), "lockThreadName": purpose, **asdict(owner)}
        content = json.dumps(entry, indent=2).encode()
        owner.hold()
        try:
            return patience.until(lambda: self._attempt(content, owner), self._held_error)
        except BaseException:
            owner.release()
            raise

    def _attempt(self, content: bytes, owner: LockOwner) -> HeldLock | None:
        while True:
            with suppress(FileExistsError):
                create_own(self.storage, self.path, content)
                return _HeldFile(self.storage, self.path, content, owner)
            if not _take_over(self.storage, self.path, content):
                return None

    def _held_error(self, waited: float) -> LockHeldError:
        info = self.storage.info(self.path)
        age = f"{self.clock.now().timestamp() - info.modified_ms / 1000:.0f} s old" if info else "released just now"
        content = one_line(read_lock(self.storage, self.path) or b"", 500)
        return held_by_another(
            self.storage.base_path,
            waited,
            f"lock {self.path}, {age}: {content or '(empty)'}",
            "; if it is certainly gone, remove the lock with `hudi-services unlock`",
        )


@dataclass(frozen=True)
class _HeldFile:
    """It does not expire: only people take it away."""

    storage: Storage
    path: str
    content: bytes
    owner: LockOwner

    def verify(self) -> None:
        owner = read_lock(self.storage, self.path)
        if owner != self.content:
            raise LockLostError(
                f"The lock {self.path} of table {self.storage.base_path} was taken away from {self.owner.purpose}",
                found="another's lock" if owner is not None else "no lock",
                fix="run it again; nothing was completed. Before `hudi-services unlock` see that its owner is gone",
            )

    def certain(self) -> bool:
        return True

    def release(self) -> None:
        """A lock that could not be removed is taken over, as its process has ended or does not hold it any more."""
        try:
            _delete_lock(self.storage, self.path, self.content)
        except Exception as error:  # noqa: BLE001 - any error of a storage
            _log.warning("The lock %s of %s could not be removed: %s", self.path, self.storage.base_path, error)
        finally:
            self.owner.release()


def _take_over(storage: Storage, path: str, own: bytes, lock: str | None = None) -> bool:
    """Remove the lock, or a claim to the `lock`, when its owner is certainly dead; True when it is worth trying again at once."""
    content = read_lock(storage, path)
    if content is None:
        return True
    owner = LockOwner.parse(content)
    if owner is None or not owner.is_dead():
        return False
    # Only one of the processes that find it dead may remove it: a late removal by another would hit the new lock of the first.
    lock = lock or path
    claim = f"{path}.{owner.token}"
    if path != lock:  # processes that die one after the other would make the name too long for a file
        claim = f"{lock}.{sha256(claim.encode()).hexdigest()[:32]}"
    try:
        create_own(storage, claim, own)
    except FileExistsError:
        return _take_over(storage, claim, own, lock)  # a claim of the dead is removed in the same way, and by one
    deleted = _delete_lock(storage, path, content)
    storage.delete(claim)
    if deleted and path.endswith("lock"):  # neither one that was given back just now nor a claim
        recovered(
            f"took over the lock {path} of pid {owner.pid} on host {owner.host} ({owner.purpose}), which had ended"
        )
    return True


def _delete_lock(storage: Storage, path: str, content: bytes) -> bool:
    """Delete the lock if it is still this one; False: it was not."""
    if read_lock(storage, path) != content:
        return False
    storage.delete(path)
    return True


def read_lock(storage: Storage, path: str) -> bytes | None:
    """The content of a lock file; None when there is none. Raises CorruptTableError for a folder of that name."""
    try:
        return storage.read(path)
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise CorruptTableError(
            f"The lock {path} of table {storage.base_path} is a folder",
            found=str(error),
            fix="no writer makes one: look into it, and remove it by hand",
        ) from error

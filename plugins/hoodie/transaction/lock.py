"""The table's lock: the file `.hoodie/lock`, as Hudi's FileSystemBasedLockProvider has it (format notes, section 13).

One writer at a time. The file is created exclusively, so Hudi's writers that use the same provider wait for us and we for
them. It tells who took it; a lock whose process is provably dead is taken over, any other is broken only by hand. (Hudi's
own lock file is empty. Hudi's `hoodie.write.lock.filesystem.expire` must stay 0, its default: else Hudi takes away a lock that
was taken that many minutes ago, whoever still works under it.)
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from hoodie.clock import Clock
from hoodie.errors import LockHeldError
from hoodie.storage.base import Storage

LOCK = ".hoodie/lock"
_SERVICE_LOCKS = ".hoodie/.locks"
_POLL_SECONDS = 0.5
_held: set[str] = set()  # tokens of the locks that this process holds now


@dataclass(frozen=True)
class LockOwner:
    """Who holds the lock. `boot` and `started` tell a process from a later one with the same number."""

    host: str
    boot: str
    pid: int
    started: str
    token: str
    purpose: str

    def is_dead(self) -> bool:
        """Whether the owner certainly runs no more. Unknown (another machine) is not dead."""
        if (self.host, self.boot) != (socket.gethostname(), _boot_id()):
            # The same machine, started again: whatever ran before is gone.
            return self.host == socket.gethostname() and bool(self.boot) and bool(_boot_id())
        if self.pid == os.getpid() and self.started == _started(self.pid):
            return self.token not in _held
        return _started(self.pid) != self.started


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
    owner = LockOwner(socket.gethostname(), _boot_id(), os.getpid(), _started(os.getpid()), str(clock.uuid()), purpose)
    _held.add(owner.token)
    try:
        _acquire(storage, clock, path, owner, wait_ms)
        try:
            yield
        finally:
            storage.delete(path)
    finally:
        _held.discard(owner.token)


def read_lock(storage: Storage) -> str | None:
    """What the lock says of its holder; None when nobody holds it."""
    try:
        return storage.read(LOCK).decode(errors="replace")
    except FileNotFoundError:
        return None


def break_lock(storage: Storage) -> str | None:
    """Remove the lock whoever holds it: for an operator who knows that the owner is gone. Returns what it said."""
    content = read_lock(storage)
    storage.delete(LOCK)
    return content


def _acquire(storage: Storage, clock: Clock, path: str, owner: LockOwner, wait_ms: int) -> None:
    content = json.dumps(
        {"lockCreateTime": clock.now().isoformat(), "lockThreadName": owner.purpose, **asdict(owner)}, indent=2
    ).encode()
    waited = 0.0
    while True:
        with suppress(FileExistsError):
            storage.create(path, content)
            return
        if _take_over(storage, path):
            continue
        if waited * 1000 >= wait_ms:
            raise _held_error(storage, clock, path, waited)
        clock.sleep(_POLL_SECONDS)
        waited += _POLL_SECONDS


def _take_over(storage: Storage, path: str) -> bool:
    """Remove the lock when its owner is certainly dead; True when it is worth trying again at once."""
    try:
        content = storage.read(path)
    except FileNotFoundError:
        return True
    try:
        entry = json.loads(content)
        owner = LockOwner(**{name: entry[name] for name in LockOwner.__dataclass_fields__})
    except (ValueError, KeyError, TypeError):  # another program's lock: nothing is known about its owner
        return False
    return owner.is_dead() and storage.delete(path)


def _held_error(storage: Storage, clock: Clock, path: str, waited: float) -> LockHeldError:
    info = storage.info(path)
    age = f"{clock.now().timestamp() - info.modified_ms / 1000:.0f} s old" if info else "released just now"
    try:
        content = " ".join(storage.read(path).decode(errors="replace").split())
    except FileNotFoundError:
        content = ""
    return LockHeldError(
        f"Table {storage.base_path} is locked by another writer, waited {waited:.0f} s",
        found=f"lock {path}, {age}: {content[:500] or '(empty)'}",
        fix="wait for that writer; if it is certainly gone, "
        + ("remove the lock with `hudi-services unlock`" if path == LOCK else "delete that file"),
    )


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When the process was started, in the kernel's ticks; empty when there is no such process (or no /proc)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""

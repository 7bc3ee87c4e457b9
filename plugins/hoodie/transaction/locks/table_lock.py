"""Taking the lock of a table, by the provider that was chosen; and locks of single pieces of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.clock import Clock
from hoodie.config.keys import lock as lock_keys
from hoodie.display import one_line
from hoodie.errors import ConfigError
from hoodie.model.place import same_table
from hoodie.storage.base import ReplacingStorage, Storage
from hoodie.transaction.locks.base import HeldLock, LockProvider, Patience
from hoodie.transaction.locks.current_lock import holding
from hoodie.transaction.locks.files import LOCK, FileLock, read_lock
from hoodie.transaction.locks.lease import TABLE_LOCK, LeaseFile, LeaseLock
from hoodie.transaction.locks.locking import Locking
from hoodie.transaction.locks.owner import LockOwner
from hoodie.transaction.locks.process_lock import InProcessLock
from hoodie.transaction.locks.servers import server_lock
from hoodie.transaction.locks.status import SERVICE_LOCKS


@contextmanager
def table_lock(storage: Storage, clock: Clock, purpose: str, locking: Locking) -> Iterator[None]:
    """Hold the table's lock for the block.

    Waits for another owner as `locking` says, then raises LockHeldError that shows the owner and the lock's age. Raises
    ConfigError when the provider cannot lock this table, or another writer uses another one.
    """
    with _holding(_provider(storage, clock, locking), clock, purpose, locking) as lock:
        _refuse_other_provider(storage, clock, locking)
        with holding(lock):
            yield


def service_lock_path(name: str) -> str:
    """The file of a lock of one piece of work."""
    return f"{SERVICE_LOCKS}/{name}.lock"


@contextmanager
def service_lock(storage: Storage, clock: Clock, name: str, locking: Locking) -> Iterator[None]:
    """Hold a lock of one piece of work, such as the execution of one plan: writers do not wait for it.

    Hudi has no such lock: with any provider for the table, this lock is a file.
    """
    provider = FileLock(storage, clock, service_lock_path(name))
    with _holding(provider, clock, name, locking):
        yield


@contextmanager
def _holding(provider: LockProvider, clock: Clock, purpose: str, locking: Locking) -> Iterator[HeldLock]:
    lock = provider.acquire(purpose, Patience(clock, locking.wait_ms, locking.retry_ms))
    try:
        yield lock
    finally:
        lock.release()


def _provider(storage: Storage, clock: Clock, locking: Locking) -> LockProvider:
    if (server := server_lock(storage.base_path, locking)) is not None:
        return server
    match locking.provider:
        case lock_keys.IN_PROCESS:
            return InProcessLock(storage, clock)
        case lock_keys.STORAGE:
            return LeaseLock(_replacing(storage), clock, locking.validity_s, locking.renewal_s)
    own = f"{storage.base_path}/{LOCK.rpartition('/')[0]}"
    if locking.folder is not None and not same_table(locking.folder, own):
        raise ConfigError(
            f"Option {lock_keys.FILE_SYSTEM_PATH.name} names another folder than the table's own",
            found=locking.folder,
            fix=f"leave it out, here and in Hudi's writers: the lock is {own}/lock, where every writer of the table looks",
        )
    return FileLock(storage, clock)


def _replacing(storage: Storage) -> ReplacingStorage:
    if not isinstance(storage, ReplacingStorage):
        raise ConfigError(
            f"{lock_keys.PROVIDER.name}={lock_keys.STORAGE} cannot lock {storage.base_path}",
            found="a storage in which a file cannot be replaced on the condition that it has not changed",
            fix=f"use S3, Google Cloud Storage, Azure or a local disk, or {lock_keys.FILE_SYSTEM} for all writers of the table",
        )
    return storage


def _refuse_other_provider(storage: Storage, clock: Clock, locking: Locking) -> None:
    """Refuse a second provider. One of two writers with two providers sees the other, as each looks when it has its own lock."""
    others = (
        (lock_keys.FILE_SYSTEM, LOCK, _is_dead),
        (lock_keys.STORAGE, TABLE_LOCK, lambda content: _lease(storage, content).is_free(clock)),
    )
    for provider, path, is_free in others:
        content = read_lock(storage, path) if provider != locking.provider else None
        if content is not None and not is_free(content):
            raise ConfigError(
                f"Two lock providers are in use on table {storage.base_path}",
                found=f"{locking.provider} here, and the lock {path} of a {provider}: "
                f"{one_line(content, 300) or '(empty)'}",
                fix="give all writers the same hoodie.write.lock.provider; one left over goes with `hudi-services unlock`",
            )


def _is_dead(content: bytes) -> bool:
    owner = LockOwner.parse(content)
    return owner is not None and owner.is_dead()


def _lease(storage: Storage, content: bytes) -> LeaseFile:
    return LeaseFile.parse(content, f"{storage.base_path}/{TABLE_LOCK}")

"""Locks that lie on servers: nothing of them is seen in the table's folder."""

from __future__ import annotations

from typing import Protocol

from hoodie.clock import Clock
from hoodie.config.key import Options
from hoodie.config.keys import lock as lock_keys
from hoodie.errors import missing_extra
from hoodie.transaction.locks.base import LockProvider
from hoodie.transaction.locks.locking import Locking
from hoodie.transaction.locks.status import FoundLock


class ServerLock(LockProvider, Protocol):
    """The lock of one table on a server. Every call raises StorageError when no server answers."""

    def find(self, clock: Clock) -> FoundLock | None:
        """The lock with its holder; None when it is free."""
        ...

    def remove(self, lock: FoundLock) -> bool:
        """Remove the lock, for an operator who knows that its holder is gone. False when it has another holder now, or is
        free."""
        ...


def server_lock(base_path: str, locking: Locking) -> ServerLock | None:
    """The table's lock, where its provider is a server. Raises ConfigError for options or packages that are missing."""
    match locking.provider:
        case lock_keys.ZOOKEEPER | lock_keys.ZOOKEEPER_IMPLICIT:
            return _zookeeper(base_path, locking.provider, locking.options)
        case lock_keys.HIVE:
            return _hive(base_path, locking.options)
    return None


def _zookeeper(base_path: str, provider: str, options: Options) -> ServerLock:
    try:
        from hoodie.transaction.locks.zookeeper import IMPLICIT_KEY, Ensemble, ZooKeeperLock, implicit_base_path
    except ImportError as error:
        raise missing_extra("zookeeper", f"{lock_keys.PROVIDER.name}={provider}", error) from error
    if provider == lock_keys.ZOOKEEPER_IMPLICIT:
        node = f"{implicit_base_path(base_path)}/{IMPLICIT_KEY}"
    else:
        node = (
            f"/{options[lock_keys.ZOOKEEPER_BASE_PATH].strip('/')}/{options[lock_keys.ZOOKEEPER_LOCK_KEY].strip('/')}"
        )
    times = options[lock_keys.ZOOKEEPER_SESSION_MS], options[lock_keys.ZOOKEEPER_CONNECTION_MS]
    return ZooKeeperLock(Ensemble(options[lock_keys.ZOOKEEPER_URL], node, *times, provider), base_path)


def _hive(base_path: str, options: Options) -> ServerLock:
    try:
        from hoodie.transaction.locks.hive import HiveLock, NamedTable
    except ImportError as error:
        raise missing_extra("hive", f"{lock_keys.PROVIDER.name}={lock_keys.HIVE}", error) from error
    named = (options[lock_keys.HIVE_URIS], options[lock_keys.HIVE_DATABASE], options[lock_keys.HIVE_TABLE])
    return HiveLock(NamedTable(*named, options[lock_keys.HEARTBEAT_INTERVAL_MS]), base_path)

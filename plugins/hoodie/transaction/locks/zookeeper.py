"""A lock in ZooKeeper, as Hudi's ZookeeperBasedLockProvider has it (Curator's InterProcessMutex).

Writers queue up by nodes that end with their sessions.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import xxhash
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.recipe.lock import Lock

from hoodie.clock import Clock
from hoodie.display import one_line
from hoodie.errors import ConfigError, LockHeldError, LockLostError, StorageError
from hoodie.transaction.locks.base import HeldLock, Patience, held_by_another, steady_seconds
from hoodie.transaction.locks.status import FoundLock

_log = logging.getLogger(__name__)

IMPLICIT_KEY = "lock_key"
_SEED = -625288518  # seed of Hudi's hashes
_NODE = "-lock-"  # before the number of a node in the queue
_MOST_SHOWN = 200  # characters of what a node holds
_CERTAIN = 0.1  # the share of the session's time that was asked for: the server may have granted less


@dataclass(frozen=True)
class Ensemble:
    """Address of the lock: `servers` as `host:port,…`, the node below which writers queue up, times in ms, Hudi's name of it."""

    servers: str
    node: str
    session_ms: int
    connection_ms: int
    provider: str


def implicit_base_path(base_path: str) -> str:
    """The node that Hudi's ZookeeperBasedImplicitBasePathLockProvider derives of a table's base path, by its HashID.

    Two spellings of one place are two nodes, but for `s3a://`, which is `s3://`.
    """
    place = base_path.replace("s3a://", "s3://", 1) if base_path.startswith("s3a://") else base_path
    return f"/tmp/{xxhash.xxh64_hexdigest(place.encode(), _SEED % 2**64).upper()}"


class _CuratorLock(Lock):  # type: ignore[misc]
    """kazoo's lock with the names of Curator's nodes: both sort the queue by the number behind them."""

    _NODE_NAME = _NODE
    _EXCLUDE_NAMES: ClassVar = [_NODE_NAME]


@dataclass(frozen=True)
class ZooKeeperLock:
    """The lock of one table; `base_path` is how errors call it."""

    ensemble: Ensemble
    base_path: str

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """See `LockProvider.acquire`: in the order in which writers came. Raises StorageError when no server answers."""
        client = self._connected()
        lock = _CuratorLock(client, self.ensemble.node, f"{purpose} by process {os.getpid()} of {socket.gethostname()}")
        start = time.monotonic()
        try:
            waits = {"timeout": patience.wait_ms / 1000} if patience.wait_ms else {"blocking": False}
            acquired = lock.acquire(**waits)
        except LockTimeout:
            acquired = False
        except KazooException as error:
            _close(client)
            raise self._unanswered(error) from error
        except BaseException:
            _close(client)
            raise
        if not acquired:
            refused = self._held_error(lock, time.monotonic() - start)
            _close(client)
            raise refused
        return _HeldNode(self, client, lock)

    def find(self, clock: Clock) -> FoundLock | None:
        """The lock with its holder and age; None when it is free. Raises StorageError when no server answers."""
        client = self._connected()
        try:
            first = self._first(client)
        except KazooException as error:
            raise self._unanswered(error) from error
        finally:
            _close(client)
        if first is None:
            return None
        _, content, stat = first
        age = round(clock.now().timestamp() - stat.ctime / 1000, 3)
        owner = one_line(content, _MOST_SHOWN)
        return FoundLock(self.ensemble.node, self.ensemble.provider, content, None, owner, age, None, None)

    def remove(self, lock: FoundLock) -> bool:
        """Take the lock from its holder, as the end of its session would. False when it has another holder now, or is free."""
        client = self._connected()
        try:
            first = self._first(client)
            if first is None or first[1] != lock.content:
                return False
            client.delete(first[0])
        except NoNodeError:
            return False
        except KazooException as error:
            raise self._unanswered(error) from error
        finally:
            _close(client)
        return True

    def _first(self, client: KazooClient) -> tuple[str, bytes, Any] | None:
        """First of the queue: the node, its content, and its time. None when the lock was never taken, or was released."""
        node = self.ensemble.node
        try:
            queue = sorted(client.get_children(node), key=lambda name: name.rpartition(_NODE)[2])
            return (f"{node}/{queue[0]}", *client.get(f"{node}/{queue[0]}")) if queue else None
        except NoNodeError:
            return None

    def _connected(self) -> KazooClient:
        ensemble = self.ensemble
        try:
            client = KazooClient(ensemble.servers, timeout=ensemble.session_ms / 1000)
        except ValueError as error:
            raise ConfigError(
                "hoodie.write.lock.zookeeper.url names no servers",
                found=repr(ensemble.servers),
                fix="write host:port, several with commas",
            ) from error
        try:
            client.start(timeout=ensemble.connection_ms / 1000)
        except (KazooTimeoutError, KazooException, OSError) as error:
            _close(client)
            raise self._unanswered(error) from error
        return client

    def _unanswered(self, error: Exception) -> StorageError:
        return StorageError(
            f"ZooKeeper, which locks table {self.base_path}, does not answer at {self.ensemble.servers}",
            found=str(error) or type(error).__name__,
            fix="start it, or correct hoodie.write.lock.zookeeper.url; nothing was written",
        )

    def _held_error(self, lock: Lock, waited: float) -> LockHeldError:
        try:
            queue = lock.contenders()
        except KazooException:
            queue = []
        return held_by_another(
            self.base_path,
            waited,
            f"node {self.ensemble.node} of ZooKeeper, held by {queue[0] if queue else 'nobody by now'}",
            ": the lock of a dead one ends with its session",
        )


class _HeldNode:
    """It ends when the server has not heard of this process for the time of a session."""

    def __init__(self, lock: ZooKeeperLock, client: KazooClient, node: Lock) -> None:
        self._lock, self._client, self._node = lock, client, node
        self._verified_at = steady_seconds()

    def verify(self) -> None:
        asked_at = steady_seconds()
        path = f"{self._lock.ensemble.node}/{self._node.node}"
        try:
            node_stat = self._client.retry(self._client.exists, path)
        except (KazooException, KazooTimeoutError) as error:
            raise self._lost_error(f"no answer: {error or type(error).__name__}") from error
        if node_stat is None:
            raise self._lost_error("its session has ended, and another writer may have the lock")
        self._verified_at = asked_at

    def certain(self) -> bool:
        return steady_seconds() - self._verified_at < self._lock.ensemble.session_ms / 1000 * _CERTAIN

    def release(self) -> None:
        try:
            self._node.release()
        except Exception as error:  # noqa: BLE001 - the session ends after any error
            _log.warning(
                "The lock %s of %s was not given back: %s", self._lock.ensemble.node, self._lock.base_path, error
            )
        finally:
            _close(self._client)

    def _lost_error(self, detail: str) -> LockLostError:
        return LockLostError(
            f"The lock {self._lock.ensemble.node} of table {self._lock.base_path} in ZooKeeper was lost",
            found=detail,
            fix="run it again; nothing was completed. A process that is stopped for longer than "
            "hoodie.write.lock.zookeeper.session_timeout_ms loses its lock",
        )


def _close(client: KazooClient) -> None:
    """End the session, and with it every node of it."""
    client.stop()
    client.close()

"""Options of the table's lock. Names and defaults are Hudi's, but for the provider (decision 34)."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, integer, text

FILE_SYSTEM, STORAGE, ZOOKEEPER, ZOOKEEPER_IMPLICIT, HIVE, IN_PROCESS = (
    "FileSystemBasedLockProvider",
    "StorageBasedLockProvider",
    "ZookeeperBasedLockProvider",
    "ZookeeperBasedImplicitBasePathLockProvider",
    "HiveMetastoreBasedLockProvider",
    "InProcessLockProvider",
)
PROVIDERS = (FILE_SYSTEM, STORAGE, ZOOKEEPER, ZOOKEEPER_IMPLICIT, HIVE, IN_PROCESS)
_PACKAGE = "org.apache.hudi.client.transaction.lock"
_PACKAGES = {HIVE: "org.apache.hudi.hive.transaction.lock"}


def _provider(value: str) -> str:
    package, _, name = value.strip().rpartition(".")
    if name not in PROVIDERS or package not in ("", _PACKAGES.get(name, _PACKAGE)):
        raise ValueError(f"one of {', '.join(PROVIDERS)}, with or without its package, as {_PACKAGE}.{FILE_SYSTEM}")
    return name


def _name(value: str) -> str:
    if not (name := value.strip()):
        raise ValueError("not empty: tables without a name of their own would share one lock")
    return name


PROVIDER = ConfigKey[str](
    "hoodie.write.lock.provider",
    _provider,
    FILE_SYSTEM,
    "what writers of the table exclude each other by; the same for all of them",
)
WAIT_MS = ConfigKey[int](
    "hoodie.write.lock.wait_time_ms", integer(0), 60_000, "how long to wait for another writer's lock, in ms"
)
RETRY_MS = ConfigKey[int](
    "hoodie.write.lock.wait_time_ms_between_retry",
    integer(1),
    1000,
    "how long to wait between two looks whether the lock is free, in ms",
)
FILE_SYSTEM_PATH = ConfigKey[str](
    "hoodie.write.lock.filesystem.path", text, None, "folder of the lock file: none but .hoodie of the table"
)

VALIDITY_S = ConfigKey[int](
    "hoodie.write.lock.storage.validity.timeout.secs",
    integer(10),
    300,
    "seconds for which a storage-based lock is held unless it is renewed: a dead writer's is free after them",
)
RENEWAL_S = ConfigKey[int](
    "hoodie.write.lock.storage.renew.interval.secs",
    integer(1),
    30,
    "seconds between two renewals of a storage-based lock: a tenth of the time that it is valid, at most",
    ("hoodie.write.lock.storage.heartbeat.poll.secs",),
)
ZOOKEEPER_URL = ConfigKey[str](
    "hoodie.write.lock.zookeeper.url", _name, None, "addresses of ZooKeeper: host:port, several with commas"
)
ZOOKEEPER_BASE_PATH = ConfigKey[str](
    "hoodie.write.lock.zookeeper.base_path", _name, None, "node of ZooKeeper below which tables have their locks"
)
ZOOKEEPER_LOCK_KEY = ConfigKey[str](
    "hoodie.write.lock.zookeeper.lock_key", _name, None, "name of the table's lock below that node"
)
ZOOKEEPER_SESSION_MS = ConfigKey[int](
    "hoodie.write.lock.zookeeper.session_timeout_ms",
    integer(1),
    60_000,
    "ms after which ZooKeeper gives the lock of a writer away that it does not hear of",
)
ZOOKEEPER_CONNECTION_MS = ConfigKey[int](
    "hoodie.write.lock.zookeeper.connection_timeout_ms",
    integer(1),
    15_000,
    "ms that the connection to ZooKeeper may take",
)
HIVE_DATABASE = ConfigKey[str](
    "hoodie.write.lock.hivemetastore.database",
    _name,
    None,
    "database of the table whose name is locked in a Hive metastore",
)
HIVE_TABLE = ConfigKey[str](
    "hoodie.write.lock.hivemetastore.table",
    _name,
    None,
    "table whose name is locked in a Hive metastore, written alike by all writers; it need not be there",
)
HIVE_URIS = ConfigKey[str](
    "hoodie.write.lock.hivemetastore.uris",
    _name,
    None,
    "Hive metastores, comma separated: thrift://host:port; the first that answers is used",
)
HEARTBEAT_INTERVAL_MS = ConfigKey[int](
    "hoodie.write.lock.heartbeat_interval_ms",
    integer(1),
    60_000,
    "ms between two heartbeats of who holds a lock in a Hive metastore: half of that one's hive.txn.timeout at most",
)

LOCK_KEYS: tuple[ConfigKey[Any], ...] = (
    PROVIDER,
    WAIT_MS,
    RETRY_MS,
    FILE_SYSTEM_PATH,
    VALIDITY_S,
    RENEWAL_S,
    ZOOKEEPER_URL,
    ZOOKEEPER_BASE_PATH,
    ZOOKEEPER_LOCK_KEY,
    ZOOKEEPER_SESSION_MS,
    ZOOKEEPER_CONNECTION_MS,
    HIVE_DATABASE,
    HIVE_TABLE,
    HIVE_URIS,
    HEARTBEAT_INTERVAL_MS,
)

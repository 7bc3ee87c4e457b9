"""Options of the table's lock. Names and defaults are Hudi's, but for the provider (docs/decisions/0034)."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, integer, text

_PACKAGE = "org.apache.hudi.client.transaction.lock."
FILE_SYSTEM, STORAGE, IN_PROCESS = (
    "FileSystemBasedLockProvider",
    "StorageBasedLockProvider",
    "InProcessLockProvider",
)
PROVIDERS = (FILE_SYSTEM, STORAGE, IN_PROCESS)


def _provider(value: str) -> str:
    name = value.strip().removeprefix(_PACKAGE)
    if name not in PROVIDERS:
        raise ValueError(f"one of {', '.join(PROVIDERS)}, with or without its package {_PACKAGE[:-1]}")
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

LOCK_KEYS: tuple[ConfigKey[Any], ...] = (PROVIDER, WAIT_MS, RETRY_MS, FILE_SYSTEM_PATH, VALIDITY_S, RENEWAL_S)

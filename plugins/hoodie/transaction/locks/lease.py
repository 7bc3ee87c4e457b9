"""A lock that runs out, as Hudi's StorageBasedLockProvider has it (format notes, section 13): one file that is never deleted.

The file says until when its owner holds the lock, or that it was given back. Every change of it replaces what the writer has
seen, and nothing else (`If-Match`, or a lock of the kernel on local disks), so of two that find the lock free one gets it. The
owner renews it in a thread; one that has died or was stopped loses it when the time is over, and finds that out before it
completes anything (`verify`). Clocks may differ by a tenth of the validity, and by what a waiter waits beyond it.
"""

from __future__ import annotations

import json
import logging
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Self

from hoodie.clock import Clock
from hoodie.display import one_line
from hoodie.errors import CorruptTableError, LockHeldError, LockLostError
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.idempotent import create_own, replace_own
from hoodie.transaction.locks.base import HeldLock, Patience, held_by_another, steady_seconds
from hoodie.transaction.locks.files import read_lock
from hoodie.transaction.locks.owner import LockOwner
from hoodie.transaction.recovery import recovered

_log = logging.getLogger(__name__)

TABLE_LOCK = ".hoodie/.locks/table_lock.json"
_DRIFT_MS = 10_000  # how far clocks may differ for a waiter; Hudi's own waits for 500 ms
_SAFE = 0.9  # for the holder itself, the share of the validity


@dataclass(frozen=True)
class LeaseFile:
    """Contents of the file: `valid_until` in ms since 1970, `owner` any text."""

    expired: bool
    valid_until: int
    owner: str

    @classmethod
    def parse(cls, content: bytes, where: str) -> Self:
        """Raises CorruptTableError, naming `where`, for what neither Hudi nor this library writes."""
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            entry = json.loads(content)
            lease = cls(entry["expired"], entry["validUntil"], entry["owner"])
            if type(lease.expired) is bool and type(lease.valid_until) is int and isinstance(lease.owner, str):
                return lease
        raise CorruptTableError(
            f"The lock file {where} is not a file of a StorageBasedLockProvider",
            found=one_line(content, 300) or "(empty)",
            fix="find its writer; when no process works on the table, remove it with `hudi-services unlock`",
        )

    def encode(self) -> bytes:
        """As Hudi writes it."""
        entry = {"expired": self.expired, "validUntil": self.valid_until, "owner": self.owner}
        return json.dumps(entry, separators=(",", ":")).encode()

    def is_free(self, clock: Clock) -> bool:
        """Return whether the next writer may take the lock: it was released, its time is over, or its process has certainly
        ended."""
        if self.expired or clock.now().timestamp() * 1000 > self.valid_until + _DRIFT_MS:
            return True
        return (process := self.process()) is not None and process.is_dead()

    def process(self) -> LockOwner | None:
        """The owner, when it is one of this library's."""
        return LockOwner.parse(self.owner.encode())

    def owner_text(self) -> str:
        """The owner in words."""
        process = self.process()
        if process is None:
            return self.owner[:200]
        return f"pid {process.pid} on host {process.host} ({process.purpose})"


@dataclass(frozen=True)
class LeaseLock:
    """The lock of a table that its holder renews; `validity` and `renewal` in seconds."""

    storage: ReplacingStorage
    clock: Clock
    validity: int
    renewal: int

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """See `LockProvider.acquire`. Raises CorruptTableError for a file of another format."""
        owner = LockOwner.of_this_process(str(self.clock.uuid()), purpose)
        owner.hold()
        try:
            return patience.until(lambda: self._attempt(owner), self._held_error)
        except BaseException:
            owner.release()
            raise

    def _attempt(self, owner: LockOwner) -> _Lease | None:
        start = _Moment.now(self.clock)
        text = json.dumps(asdict(owner), separators=(",", ":"))
        new = LeaseFile(False, start.wall_ms + self.validity * 1000, text)
        content = read_lock(self.storage, TABLE_LOCK)
        if content is None:
            with suppress(FileExistsError):
                create_own(self.storage, TABLE_LOCK, new.encode())
                return _Lease(self, owner, new, start)
            return None
        old = LeaseFile.parse(content, f"{self.storage.base_path}/{TABLE_LOCK}")
        if not old.is_free(self.clock) or not replace_own(self.storage, TABLE_LOCK, content, new.encode()):
            return None
        if not old.expired:
            recovered(f"took over the lock {TABLE_LOCK} of {old.owner_text()}, which had ended or did not renew it")
        return _Lease(self, owner, new, start)

    def _held_error(self, waited: float) -> LockHeldError:
        content = read_lock(self.storage, TABLE_LOCK)
        holder = "released just now"
        if content is not None:
            lease = LeaseFile.parse(content, f"{self.storage.base_path}/{TABLE_LOCK}")
            seconds = lease.valid_until / 1000 - self.clock.now().timestamp()
            holder = f"held by {lease.owner_text()}, for {seconds:.0f} s more unless it is renewed"
        return held_by_another(
            self.storage.base_path,
            waited,
            f"lock {TABLE_LOCK}, {holder}",
            ": a dead one's lock runs out; if it is certainly gone, `hudi-services unlock` is quicker",
        )


@dataclass(frozen=True)
class _Moment:
    """A moment by two clocks: the one that others see, in ms, and one that cannot be set, in seconds."""

    wall_ms: int
    steady: float

    @classmethod
    def now(cls, clock: Clock) -> Self:
        return cls(int(clock.now().timestamp() * 1000), steady_seconds())

    def seconds_since(self, start: _Moment) -> float:
        """The longer of what both say."""
        return max((self.wall_ms - start.wall_ms) / 1000, self.steady - start.steady)


class _Lease:
    """The lock while this process has it."""

    def __init__(self, lock: LeaseLock, owner: LockOwner, file: LeaseFile, renewed: _Moment) -> None:
        self._lock, self._owner, self._renewed = lock, owner, renewed
        self._file, self._content = file, file.encode()
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="hudi-lock", daemon=True)
        self._heart.start()

    def verify(self) -> None:
        with self._changing:
            self._renew()

    def certain(self) -> bool:
        return _Moment.now(self._lock.clock).seconds_since(self._renewed) < self._lock.validity * _SAFE

    def release(self) -> None:
        self._ended.set()
        try:
            with self._changing:
                self._replace(replace(self._file, expired=True))
        except Exception as error:  # noqa: BLE001 - any error of a storage
            _log.warning("The lock %s of %s was not given back: %s", TABLE_LOCK, self._lock.storage.base_path, error)
        finally:
            self._owner.release()

    def _beat(self) -> None:
        while not self._ended.wait(self._lock.renewal):
            with self._changing:
                if self._ended.is_set():
                    return
                try:
                    self._renew()
                except LockLostError as error:
                    _log.error("%s", error)
                    return
                except Exception as error:  # noqa: BLE001 - any error of a storage
                    _log.warning("The lock %s could not be renewed yet: %s", TABLE_LOCK, error)

    def _renew(self) -> None:
        start = _Moment.now(self._lock.clock)
        until = max(start.wall_ms + self._lock.validity * 1000, self._file.valid_until + 1)
        self._replace(replace(self._file, valid_until=until))
        self._renewed = start

    def _replace(self, new: LeaseFile) -> None:
        """Raises LockLostError when the lock is another's."""
        storage = self._lock.storage
        while not replace_own(storage, TABLE_LOCK, self._content, new.encode()):
            content = read_lock(storage, TABLE_LOCK)
            lease = None if content is None else LeaseFile.parse(content, f"{storage.base_path}/{TABLE_LOCK}")
            if content is None or lease is None or lease.owner != self._file.owner or lease.expired:
                raise LockLostError(
                    f"The lock {TABLE_LOCK} of table {storage.base_path} was lost by {self._owner.purpose}",
                    found="no lock" if lease is None else f"by now it is of {lease.owner_text()}",
                    fix="run it again; nothing was completed. A process that is stopped for longer than "
                    "hoodie.write.lock.storage.validity.timeout.secs loses its lock",
                )
            self._content = content  # a renewal whose answer was lost came later than the look for it
        self._file, self._content = new, new.encode()

"""A lock in a Hive metastore, as Hudi's HiveMetastoreBasedLockProvider has it: an exclusive lock of one table's name.

The metastore queues up who asks, and gives away the lock of a holder that it does not hear of for `hive.txn.timeout`, where its
housekeeper is switched on. The table that is named need not be there.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pymetastore.hive_metastore import ttypes as hive
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TTransportException

from hoodie.clock import Clock
from hoodie.config.keys.lock import HEARTBEAT_INTERVAL_MS, HIVE, HIVE_DATABASE, HIVE_TABLE, HIVE_URIS
from hoodie.display import one_line
from hoodie.errors import ConfigError, LockHeldError, LockLostError, StorageError
from hoodie.metastore import Connection, words
from hoodie.transaction.locks.base import HeldLock, Patience, held_by_another, steady_seconds
from hoodie.transaction.locks.owner import user_name
from hoodie.transaction.locks.status import FoundLock

_log = logging.getLogger(__name__)

T = TypeVar("T")

_AGENT = 128  # characters of what the metastore keeps of who asks
_TIMEOUT = "hive.txn.timeout"
_UNITS_S = {"": 1.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME = re.compile(r"([0-9]{1,18}) *(|ms|us|ns|[dhms])(?:(?<=[dh])(?:ay|our)s?|(?<=m)in(?:ute)?s?|(?<=s)ec(?:ond)?s?)?")
_PAUSES_S = (0.2, 1.0, 3.0)  # after which a metastore that did not answer is asked again
_NAME = re.compile(r"\w{1,128}", re.ASCII)  # what every Hive takes for the name of a database or a table
_UNHEARD = (TTransportException, TProtocolException, OSError)  # the call may have happened


@dataclass(frozen=True)
class NamedTable:
    """Name of the locked table: the table `name` of `database`, in the metastore at `uris`. Heartbeats go there every
    `interval_ms`."""

    uris: str
    database: str
    name: str
    interval_ms: int

    def __post_init__(self) -> None:
        """Raises ConfigError for names that a metastore has no room for."""
        for option, name, most in ((HIVE_DATABASE, self.database, 128), (HIVE_TABLE, self.name, 256)):
            if not 0 < len(name) <= most:
                raise ConfigError(
                    f"{option.name} is not a name that a metastore can lock",
                    found=f"{len(name)} characters: {name!r:.60}",
                    fix=f"give one of 1 to {most} characters",
                )

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class HiveLock:
    """The lock of one table; `base_path` is how errors call it."""

    table: NamedTable
    base_path: str

    def acquire(self, purpose: str, patience: Patience) -> HeldLock:
        """See `LockProvider.acquire`: in the order in which writers came.

        Raises StorageError when no metastore answers, ConfigError when it gives locks away sooner than heartbeats come.
        """
        request = _Request(_Metastore(self), purpose)
        try:
            self._check_interval(request.metastore)
            patience.until(lambda: request.is_granted() or None, lambda waited: self._held_error(request, waited))
        except BaseException:
            request.withdraw()
            raise
        return _HeldByMetastore(self, request)

    def find(self, clock: Clock) -> FoundLock | None:
        """The lock with its holder and age; None when it is free. Raises StorageError when no metastore answers."""
        metastore = _Metastore(self)
        try:
            holder = _holder(metastore.locks())
        finally:
            metastore.close()
        if holder is None:
            return None
        age = round(clock.now().timestamp() - holder.acquiredat / 1000, 3) if holder.acquiredat else None
        return FoundLock(str(self.table), HIVE, str(holder.lockid).encode(), None, _owner_text(holder), age, None, None)

    def remove(self, lock: FoundLock) -> bool:
        """Take the lock from its holder. False when it has another holder now, or is free."""
        metastore = _Metastore(self)
        try:
            holder = _holder(metastore.locks())
            if holder is None or str(holder.lockid).encode() != lock.content:
                return False
            metastore.unlock(holder.lockid)
        finally:
            metastore.close()
        return True

    def _check_interval(self, metastore: _Metastore) -> None:
        timeout = metastore.timeout_s()
        if timeout is not None and self.table.interval_ms > timeout * 1000 / 2:
            raise ConfigError(
                f"{HEARTBEAT_INTERVAL_MS.name} is too long",
                found=f"{self.table.interval_ms} ms, and the metastore gives away a lock of which it has not heard for "
                f"{timeout:g} s ({_TIMEOUT})",
                fix="set at most half of that, for all writers of the table",
            )

    def _held_error(self, request: _Request, waited: float) -> LockHeldError:
        holder = _holder(request.metastore.locks())
        return held_by_another(
            self.base_path,
            waited,
            f"table {self.table} in the Hive metastore, held by {_owner_text(holder) if holder is not None else 'nobody by now'}",
            f": a dead one's lock runs out after {_TIMEOUT}; if it is certainly gone, `hudi-services unlock` is quicker",
        )


class _Metastore:
    """Calls to a metastore about the lock of one table, one at a time; a connection that has ended is opened again."""

    def __init__(self, lock: HiveLock) -> None:
        self.table = lock.table
        self._base_path = lock.base_path
        self._calling = threading.Lock()
        self._connection: Connection | None = None
        self._closed = False

    def ask(self, call: Callable[[Any], T]) -> T:
        """The result of `call`; tried again on a connection of its own, as a metastore that is restarted is away for some
        seconds. For calls that may happen twice.

        Raises StorageError when no metastore answers, and what the metastore has declared for the call.
        """
        for pause in _PAUSES_S:
            with suppress(*_UNHEARD):
                return self.ask_once(call)
            time.sleep(pause)
        try:
            return self.ask_once(call)
        except _UNHEARD as error:
            raise self.unanswered(error) from error

    def ask_once(self, call: Callable[[Any], T]) -> T:
        """The same, but raises one of `_UNHEARD` when there was no answer."""
        with self._calling:
            if self._closed:  # a heartbeat comes late
                raise ConnectionError("the lock is given back")
            if self._connection is None:
                self._connection = Connection.open(self.table.uris, HIVE_URIS.name, user_name())
            try:
                return call(self._connection.client)
            except _UNHEARD:
                self._connection.close()
                self._connection = None
                raise

    def locks(self) -> list[Any]:
        """Those of the table, held and asked for, oldest first."""
        request = hive.ShowLocksRequest(dbname=self.table.database, tablename=self.table.name)
        try:
            answer = self.ask(lambda client: client.show_locks(request))
        except TException as error:
            raise self.unanswered(error) from error
        return sorted(answer.locks or (), key=lambda lock: lock.lockid)

    def unlock(self, lockid: int) -> None:
        """Nothing happens when there is no such lock."""
        with suppress(hive.NoSuchLockException):
            self.ask(lambda client: client.unlock(hive.UnlockRequest(lockid=lockid)))

    def timeout_s(self) -> float | None:
        """After how many seconds the metastore gives a lock away; None when it does not say so in words that are known."""
        try:
            return seconds_of(str(self.ask(lambda client: client.get_config_value(_TIMEOUT, "300s"))))
        except TException:
            return None

    def close(self) -> None:
        with self._calling:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def unanswered(self, error: Exception) -> ConfigError | StorageError:
        """The error to raise for one that is not declared for the call: no answer, or a call that failed.

        It fails, and does not say why, for a name of which its database keeps fewer characters: Hive 2 and 3 for tables of 129.
        """
        if isinstance(error, TApplicationException):
            names = ((HIVE_DATABASE.name, self.table.database), (HIVE_TABLE.name, self.table.name))
            if odd := [f"{option} is {name!r:.300}" for option, name in names if not _NAME.fullmatch(name)]:
                return ConfigError(
                    f"The Hive metastore at {self.table.uris} refuses the name that table {self._base_path} is locked by",
                    found=f"{words(error)}, where {' and '.join(odd)}",
                    fix="name it by at most 128 letters, digits and underscores; nothing was written",
                )
            return StorageError(
                f"The Hive metastore, which locks table {self._base_path}, fails at {self.table.uris}",
                found=words(error),
                fix="look at its log, which says why; nothing was written",
            )
        return StorageError(
            f"The Hive metastore, which locks table {self._base_path}, does not answer at {self.table.uris}",
            found=words(error),
            fix=f"start it, or correct {HIVE_URIS.name}; its log says more; nothing was written",
        )


@dataclass
class _Request:
    """A place in the metastore's queue. `token` distinguishes it from all others, whose requests look the same."""

    metastore: _Metastore
    purpose: str
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    lockid: int | None = None
    unheard: bool = False  # a call for a place got no answer: there may be two

    def is_granted(self) -> bool:
        """Return whether it is this one's turn. Takes a place first."""
        try:
            if self.lockid is None:
                return self._take_a_place()
            self._give_up_others()
            request = hive.CheckLockRequest(lockid=self.lockid)
            return _is_held(self.metastore.ask(lambda client: client.check_lock(request)))
        except hive.NoSuchLockException:  # it was given away while this process was stopped
            self.lockid = None
            return False
        except StorageError:
            raise
        except (TException, OSError) as error:
            raise self.metastore.unanswered(error) from error

    def _take_a_place(self) -> bool:
        table = self.metastore.table
        agent = f"by process {os.getpid()}, {self.token}"
        request = hive.LockRequest(
            component=[
                hive.LockComponent(
                    type=hive.LockType.EXCLUSIVE,
                    level=hive.LockLevel.TABLE,
                    dbname=table.database,
                    tablename=table.name,
                )
            ],
            user=user_name(),
            hostname=socket.gethostname(),
            agentInfo=f"{one_line(self.purpose.encode(), _AGENT - len(agent) - 1)} {agent}",
        )
        try:
            answer = self.metastore.ask_once(lambda client: client.lock(request))
        except _UNHEARD:
            self.unheard = True
            own = next((lock for lock in self.metastore.locks() if self.is_of(lock)), None)
            if own is not None:
                self.lockid = own.lockid
                return _is_held(own)
            answer = self.metastore.ask_once(lambda client: client.lock(request))
        self.lockid = answer.lockid
        return _is_held(answer)

    def is_of(self, lock: Any) -> bool:
        return self.token in (lock.agentInfo or "")

    def _give_up_others(self) -> None:
        """A request that was not answered may be carried out late: it would be waited for until it runs out."""
        if self.unheard:
            for lock in self.metastore.locks():
                if self.is_of(lock) and lock.lockid != self.lockid:
                    self.metastore.unlock(lock.lockid)

    def withdraw(self) -> None:
        """Leave the queue, or release the lock. A failure is logged: the lock ends in the metastore when its time is over."""
        try:
            self._give_up_others()
            if self.lockid is not None:
                self.metastore.unlock(self.lockid)
        except Exception as error:  # noqa: BLE001 - any error of a server
            _log.warning("The lock %s in the Hive metastore was not given back: %s", self.metastore.table, error)
        finally:
            self.metastore.close()


class _HeldByMetastore:
    """It ends when the metastore has not heard of this process for its time."""

    def __init__(self, lock: HiveLock, request: _Request) -> None:
        self._lock, self._request = lock, request
        self._verified_at = steady_seconds()
        self._ended = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="hudi-lock", daemon=True)
        self._heart.start()

    def verify(self) -> None:
        asked_at = steady_seconds()
        beat = hive.HeartbeatRequest(lockid=self._request.lockid)
        try:
            self._request.metastore.ask(lambda client: client.heartbeat(beat))
        except hive.NoSuchLockException as error:
            raise self._lost_error(f"the metastore has given it away: {words(error)}") from error
        except (TException, OSError) as error:
            raise self._lost_error(f"no answer: {words(error)}") from error
        self._verified_at = asked_at

    def certain(self) -> bool:
        return steady_seconds() - self._verified_at < self._lock.table.interval_ms / 1000

    def release(self) -> None:
        self._ended.set()
        self._request.withdraw()

    def _beat(self) -> None:
        while not self._ended.wait(self._lock.table.interval_ms / 1000):
            try:
                self.verify()
            except LockLostError as error:
                if not self._ended.is_set():
                    _log.warning("%s", error)

    def _lost_error(self, detail: str) -> LockLostError:
        return LockLostError(
            f"The lock {self._lock.table} of table {self._lock.base_path} in the Hive metastore was lost",
            found=detail,
            fix=f"run it again; nothing was completed. A process that is stopped for longer than the metastore's {_TIMEOUT} "
            "loses its lock",
        )


def seconds_of(text: str) -> float | None:
    """A time as Hive's configuration has it (`300s`, `5 min`, `300000ms`; seconds without a unit); None for anything else."""
    match = _TIME.fullmatch(text.strip().lower())
    return int(match[1]) * _UNITS_S[match[2]] if match is not None else None


def _holder(locks: list[Any]) -> Any | None:
    return next((lock for lock in locks if _is_held(lock)), None)


def _is_held(lock: Any) -> bool:
    return bool(lock.state == hive.LockState.ACQUIRED)


def _owner_text(lock: Any) -> str:
    """Whose it is, in words: another program's agent is often called Unknown."""
    purpose = (lock.agentInfo or "").rpartition(", ")[0] or f"agent {lock.agentInfo} of user {lock.user}"
    return one_line(f"{purpose} on host {lock.hostname}".encode(), 200)

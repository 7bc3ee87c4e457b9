"""Connections of a load that work side by side. One that breaks is opened again, and its work is done again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from hoodie.errors import SourceUnavailableError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_ATTEMPTS = 4
_PAUSE = 0.5  # seconds before the second attempt, then twice as many each
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Session:
    """A connection that is opened when it is needed."""

    connect: Callable[[], AbstractContextManager[Connection[Any]]]
    pause: Callable[[float], None] = time.sleep
    _opened: AbstractContextManager[Connection[Any]] | None = None
    _connection: Connection[Any] | None = None

    def run(self, work: Callable[[Connection[Any]], R]) -> R:
        """Return what the work returns. It begins again on a new connection, a few times, when one breaks.

        Raises SourceUnavailableError after the last time, and what the work raises.
        """
        import pymysql

        for attempt in range(_ATTEMPTS):
            if attempt:
                self.pause(_PAUSE * 2 ** (attempt - 1))
            try:
                return work(self._open())
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, SourceUnavailableError) as error:
                self.close()
                failure: Exception = error
            except BaseException:
                self.close()  # rows of a result may be left on it
                raise
        raise SourceUnavailableError(
            f"The server did not answer in {_ATTEMPTS} attempts",
            found=str(failure),
            fix="run again. It goes on after the last commit",
        ) from failure

    def close(self) -> None:
        """End the connection, if there is one."""
        opened, self._opened, self._connection = self._opened, None, None
        if opened is not None:
            with suppress(Exception):  # it is broken
                opened.__exit__(None, None, None)

    def _open(self) -> Connection[Any]:
        if self._connection is None:
            opened = self.connect()
            self._connection = opened.__enter__()
            self._opened = opened
        return self._connection


@dataclass
class Sessions:
    """`count` sessions, each in a thread of its own."""

    connect: Callable[[], AbstractContextManager[Connection[Any]]]
    count: int
    _free: SimpleQueue[Session] = field(default_factory=SimpleQueue)

    def results(self, work: Callable[[Connection[Any], T], R], items: Iterator[T]) -> Iterator[R]:
        """Yield what the work returns for each item, in their order. Twice as many items as sessions are ahead of the caller.

        Raises what the work raises. Work that has begun is waited for.
        """
        sessions = [Session(self.connect) for _ in range(self.count)]
        for session in sessions:
            self._free.put(session)
        pool = ThreadPoolExecutor(self.count, "cdc-snapshot")
        ahead: deque[Future[R]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(self._on_free, work, item))
                if len(ahead) > 2 * self.count:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            for session in sessions:
                session.close()

    def _on_free(self, work: Callable[[Connection[Any], T], R], item: T) -> R:
        session = self._free.get()
        try:
            return session.run(lambda connection: work(connection, item))
        finally:
            self._free.put(session)

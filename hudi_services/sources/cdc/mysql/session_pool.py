"""The sessions that all tables of a server share while their rows are read."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Condition
from typing import TYPE_CHECKING, Any, TypeVar

from hudi_services.sources.cdc.mysql.sessions import Session

if TYPE_CHECKING:
    from pymysql.connections import Connection

_AHEAD = 2  # items of all tables together that are read or wait, for each session
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class SessionPool:
    """At most `count` sessions. The table that has the fewest of them gets the next one, of several the one that waits longest.

    A thread that has a session must not ask for another: all of them could wait for each other.
    """

    connect: Callable[[], AbstractContextManager[Connection[Any]]]
    count: int
    _idle: list[Session] = field(init=False)
    _changed: Condition = field(default_factory=Condition)
    _held: Counter[str] = field(default_factory=Counter)
    _waiting: list[_Request] = field(default_factory=list)
    _streams: int = 0

    def __post_init__(self) -> None:
        self._idle = [Session(self.connect) for _ in range(self.count)]

    @contextmanager
    def session(self, table: str, *, first: bool = False) -> Iterator[Session]:
        """Yield a session that is the caller's until the block ends. `first`: requests of all tables without it come later."""
        session = self._taken(_Request(table, first))
        try:
            yield session
        finally:
            with self._changed:
                self._held[table] -= 1
                self._idle.append(session)
                self._changed.notify_all()

    def run(self, table: str, work: Callable[[Connection[Any]], R]) -> R:
        """Do short work before that of others, as `Session.run` does."""
        with self.session(table, first=True) as session:
            return session.run(work)

    def results(
        self, table: str, work: Callable[[Connection[Any], T], R], items: Iterator[T], *, ahead_of_each: int = _AHEAD
    ) -> Iterator[R]:
        """Yield what the work returns for each item, in their order, from as many sessions as are idle.

        Few items are ahead of the caller, `ahead_of_each` session, as their rows are in memory. Raises what the work raises, once
        work that has begun has ended.
        """

        def result_of(item: T) -> R:
            with self.session(table) as session:
                return session.run(lambda connection: work(connection, item))

        threads = ThreadPoolExecutor(self.count, "cdc-snapshot")
        ahead: deque[Future[R]] = deque()
        with self._changed:
            self._streams += 1
        try:
            for item in items:
                ahead.append(threads.submit(result_of, item))
                while len(ahead) > max(1, ahead_of_each * self.count // self._streams):
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
            with self._changed:
                self._streams -= 1

    def close(self) -> None:
        """End all connections. No session is in use."""
        for session in self._idle:
            session.close()

    def _taken(self, request: _Request) -> Session:
        with self._changed:
            self._waiting.append(request)
            try:
                self._changed.wait_for(lambda: self._idle and self._next() is request)
                self._held[request.table] += 1
                return self._idle.pop()
            finally:
                self._waiting.remove(request)
                self._changed.notify_all()  # another request is the next one, and another session may be idle

    def _next(self) -> _Request:
        """The request that gets a session before the others. They are in the order in which they came."""
        return min(self._waiting, key=lambda request: (not request.first, self._held[request.table]))


@dataclass(frozen=True, eq=False)
class _Request:
    table: str
    first: bool

"""A connection that is opened when it is needed, and opened again when it breaks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hoodie.errors import SourceUnavailableError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_ATTEMPTS = 4
_PAUSE = 0.5  # seconds before the second attempt, then twice as many each
R = TypeVar("R")


@dataclass
class Session:
    """A connection that is opened when it is needed. One thread uses it at a time."""

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
                return work(self.opened())
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

    def opened(self) -> Connection[Any]:
        """Return the connection. Raises what `connect` raises."""
        if self._connection is None:
            opened = self.connect()
            self._connection = opened.__enter__()
            self._opened = opened
        return self._connection

    def answering(self) -> Connection[Any]:
        """Return the connection, in place of one that ended since it was used last. Raises what `connect` raises."""
        import pymysql

        if self._connection is not None:
            try:
                self._connection.ping(reconnect=False)
            except pymysql.err.MySQLError:
                self.close()
        return self.opened()

    def close(self) -> None:
        """End the connection, if there is one."""
        opened, self._opened, self._connection = self._opened, None, None
        if opened is not None:
            with suppress(Exception):  # it is broken
                opened.__exit__(None, None, None)

"""Stand-ins for connections to a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pymysql


@dataclass
class NumberedConnection:
    """The connection that was made as the one of this number. The server may end it."""

    number: int
    is_ended: bool = False

    def ping(self, *, reconnect: bool) -> None:
        if self.is_ended:
            raise pymysql.err.OperationalError(2006, "MySQL server has gone away")


class Connections:
    """Makes connections. `open` has the numbers of those that were not closed, `most` how many were open at once."""

    def __init__(self) -> None:
        self.made, self.most = 0, 0
        self.open: set[int] = set()

    @contextmanager
    def __call__(self) -> Iterator[NumberedConnection]:
        self.made += 1
        number = self.made
        self.open.add(number)
        self.most = max(self.most, len(self.open))
        try:
            yield NumberedConnection(number)
        finally:
            self.open.remove(number)

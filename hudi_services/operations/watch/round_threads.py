"""Looks at tables side by side, in threads of which one that hangs, as its storage does, keeps no round."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hoodie.clock import Clock
from hudi_services.entry.table import Table


@dataclass(frozen=True)
class _Going:
    """A look that goes on: when it began by a clock, and in seconds of this process."""

    since: datetime
    began: float


@dataclass
class Looks:
    """The looks of one watcher, from round to round: a table whose look still goes on is not looked at a second time.

    A round waits `patience` for a look. `look` returns how many events are new.
    """

    look: Callable[[Table], int]
    clock: Clock
    patience: timedelta = timedelta(seconds=30)
    _going: dict[str, _Going] = field(default_factory=dict)
    _events: int = 0
    _failure: BaseException | None = None
    _news: threading.Condition = field(default_factory=threading.Condition)

    def round(self, tables: Iterable[Table], at_once: int) -> int:
        """Look at each, at most `at_once` at the same time, without those that take too long. Returns how many events are new
        since the last round; raises what a look has raised."""
        with self._news:
            queue = deque(table for table in tables if table.name not in self._going)
            while True:
                ends = [round_thread.began + self.patience.total_seconds() for round_thread in self._going.values()]
                awaited = [end for end in ends if end > time.monotonic()]
                while queue and len(awaited) < at_once and self._failure is None:
                    awaited.append(self._begin(queue.popleft()))
                if not awaited:
                    break
                self._news.wait(max(min(awaited) - time.monotonic(), 0.001))
            events, failure = self._events, self._failure
            self._events, self._failure = 0, None
        if failure is not None:
            raise failure
        return events

    def slow(self, longer: timedelta) -> dict[str, datetime]:
        """The names of tables whose look has gone on for longer than `longer`, and since when."""
        with self._news:
            least = time.monotonic() - longer.total_seconds()
            return {
                name: round_thread.since for name, round_thread in self._going.items() if round_thread.began <= least
            }

    def _begin(self, table: Table) -> float:
        began = time.monotonic()
        self._going[table.name] = _Going(self.clock.now(), began)
        # A thread that hangs must not keep the process from its end.
        threading.Thread(target=self._look_at, args=(table,), name=f"look at {table.name}", daemon=True).start()
        return began + self.patience.total_seconds()

    def _look_at(self, table: Table) -> None:
        events, failure = 0, None
        try:
            events = self.look(table)
        except BaseException as error:  # noqa: BLE001 - the round that waits raises it
            failure = error
        with self._news:
            del self._going[table.name]
            self._events += events
            self._failure = self._failure or failure
            self._news.notify_all()

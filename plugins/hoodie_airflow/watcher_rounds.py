"""Rounds of the watcher in the triggerer: one for all triggers of its process, as long as there is one."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hoodie.clock import SystemClock
from hoodie.errors import HoodieError
from hudi_services.entry.watch import Watch
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topics import TopicWatch
from hudi_services.registry.load import Reading, read_registry
from hudi_services.registry.mistakes import Mistake, lines_of

_log = logging.getLogger(__name__)
_pause = asyncio.sleep


class Rounds:
    """Looks at all tables of a registry again and again, and reports to the hooks of its alerts. `done` counts the
    rounds that came to an end; hooks come after those who wait for the rounds, as hooks may be away."""

    def __init__(self, registry: Path) -> None:
        self.done = 0
        self.users = 0
        self.registry = registry
        self._watcher: tuple[str, Watcher] | None = None
        self._teller: AlertSender | None = None
        self._topics: TopicWatch | None = None
        self._working = threading.Lock()
        self._ended = False
        self._news = asyncio.Condition()
        self._task = asyncio.create_task(self._run(), name="rounds of the Hudi watcher")

    async def after(self, rounds: int) -> SnapshotStore:
        """The store once more than `rounds` rounds came to an end."""
        async with self._news:
            await self._news.wait_for(lambda: self.done > rounds)
        assert self._watcher is not None, "a round needs a store"
        return self._watcher[1].store

    async def stop(self) -> None:
        """A look that has begun goes on in its thread to its end, and closes the store then."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._ended = True
        if not self._working.locked():
            await asyncio.to_thread(self._close)

    async def _run(self) -> None:
        mistakes: tuple[Mistake, ...] = ()
        every = Watch().every
        while True:
            try:
                reading = await asyncio.to_thread(read_registry, self.registry)
                every = reading.registry.watch.every
                for line in lines_of(reading.mistakes) if reading.mistakes != mistakes else ():
                    _log.error("Left out by the watcher: %s", line)
                mistakes = reading.mistakes
                await asyncio.to_thread(self._work, self._round, reading)
            except Exception:  # noqa: BLE001 - triggers would wait for ever if this ended
                _log.exception("The watcher could not look at its tables, and tries again in %g s", every)
            else:
                async with self._news:
                    self.done += 1
                    self._news.notify_all()
                await asyncio.to_thread(self._work, self._tell, reading)
            await _pause(every)

    def _work(self, step: Callable[[Reading], None], reading: Reading) -> None:
        try:
            with self._working:
                step(reading)
        finally:
            if self._ended:
                self._close()

    def _round(self, reading: Reading) -> None:
        place = store_of(reading.registry)
        if self._watcher is None or self._watcher[0] != place:
            self._leave()
            store, clock = SnapshotStore.open(place, make=True), SystemClock()
            self._watcher, self._teller = (place, Watcher(store, clock)), AlertSender(store, clock, os.environ)
            self._topics = TopicWatch(store, clock, os.environ)
        self._watcher[1].round(reading)
        assert self._topics is not None, "it comes with the watcher"
        self._topics.round(reading.registry)

    def _tell(self, reading: Reading) -> None:
        assert self._teller is not None, "a round needs a store"
        try:
            self._teller.tell(reading.registry)
        except Exception:  # noqa: BLE001 - any error of alerts: tables are followed on
            _log.exception("Alerts are tried again with the next round")

    def _close(self) -> None:
        with self._working:
            self._leave()

    def _leave(self) -> None:
        """Let another one report, and give the store's connections back."""
        if self._teller is not None:
            with suppress(HoodieError):  # then another one waits until this one has missed its rounds
                self._teller.leave()
            self._teller.store.close()


_running: dict[Path, Rounds] = {}


def join(registry: Path) -> Rounds:
    """The rounds of this process, which begin with the first who asks."""
    rounds = _running.get(registry) or _running.setdefault(registry, Rounds(registry))
    rounds.users += 1
    return rounds


async def leave(rounds: Rounds) -> None:
    """They end with the last who leaves."""
    rounds.users -= 1
    if not rounds.users:
        del _running[rounds.registry]
        await rounds.stop()

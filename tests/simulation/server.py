"""A timeline server of the simulated world: a process of its own, which is asked over a network that loses answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from hoodie.config.keys.marker import SERVER_SECRET
from hoodie.errors import HoodieError, PendingInstantError
from hoodie.markers import Batching, remote
from hoodie.markers.server import ServerAddress, SilentServerError
from hoodie.model.time import Time
from hoodie.transaction import marker_options
from hudi_services.services.timeline_server.tables import ServedTable
from tests.simulation.world import Actor, SimulatedClock, SimulatedStorage, World

_WAIT_SECONDS, _LOOK_SECONDS = 10, 0.005
_TRIES = 2
_DEATHS, _LOST = 0.02, 0.02  # of requests: the server is killed, or its answer is


class SimulatedServer:
    """Serves the one table of the world; when it has died, another takes its place at the next request but two."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._number = 0
        self._start()

    def _start(self) -> None:
        self._number += 1
        self._actor = Actor(f"server {self._number}", 0.0)
        storage, clock = SimulatedStorage(self._world, self._actor), SimulatedClock(self._world, self._actor)
        self._table = ServedTable(storage, clock, Batching(threads=3))  # type: ignore[arg-type]
        self._refused = 0

    def ask(self, work: Callable[[ServedTable], Any]) -> None:
        """Have the server do something. Raises its error, or SilentServerError without an answer."""
        for left in reversed(range(_TRIES)):
            try:
                self._ask(work)
            except SilentServerError:
                if not left:
                    raise
            else:
                return

    def _ask(self, work: Callable[[ServedTable], Any]) -> None:
        world = self._world
        if self._actor.dead:
            self._refused += 1
            if self._refused <= 2 and not world.calm:
                raise SilentServerError("nobody listens")
            self._start()
        actor, table = self._actor, self._table
        outcome: list[Exception | None] = []

        def run() -> None:
            try:
                work(table)
            except Exception as error:  # noqa: BLE001 - the answer
                outcome.append(error)
            else:
                outcome.append(None)

        world.strand(actor, f"request of {world.current.name}", run)
        end = world.seconds + _WAIT_SECONDS
        if not world.calm and world.dice.random() < _DEATHS:
            world.pause(world.dice.random() / 10)
            actor.dead = True
        while not outcome and not actor.dead and world.seconds < end:
            world.pause(_LOOK_SECONDS)
        if not outcome or (not world.calm and world.dice.random() < _LOST):
            raise SilentServerError("no answer")
        if isinstance(outcome[0], HoodieError) and not isinstance(outcome[0], PendingInstantError):
            raise outcome[0]
        if outcome[0] is not None:
            raise SilentServerError(str(outcome[0]))


@contextmanager
def simulated_server(world: World) -> Iterator[None]:
    """Send the requests for a server that runs by itself to this one."""
    server: list[SimulatedServer] = []

    def asked(work: Callable[[ServedTable], Any]) -> None:
        if not server:
            server.append(SimulatedServer(world))
        server[0].ask(work)

    def begin(_address: ServerAddress, _table: str, instant: Time) -> None:
        asked(lambda table: table.begin(instant))

    def note(_address: ServerAddress, _table: str, instant: Time, marker: str) -> None:
        asked(lambda table: table.note(instant, marker).result())

    with ExitStack() as patches:
        patches.enter_context(
            mock.patch.dict(os.environ, {SERVER_SECRET: "of the simulated server, which asks for none"})
        )
        patches.enter_context(mock.patch.object(marker_options, "begin_on_server", begin))
        patches.enter_context(mock.patch.object(remote, "note_on_server", note))
        yield

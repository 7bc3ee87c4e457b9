"""Threads of a simulated process: they take turns as everybody does, stand still and die with their process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from hoodie.transaction import heartbeat
from hoodie.transaction.locks import lease
from tests.simulation.world import Strand, World

_LOOK_SECONDS = 0.05


@contextmanager
def simulated_threads(world: World) -> Iterator[None]:
    """For the time of the block the library's own threads are strands of the world, and go by its time."""

    class Event:
        def __init__(self) -> None:
            self._set = False

        def set(self) -> None:
            self._set = True

        def is_set(self) -> bool:
            return self._set

        def wait(self, seconds: float) -> bool:
            end = world.seconds + seconds
            while not self._set and world.seconds < end:
                world.pause(min(_LOOK_SECONDS, end - world.seconds))
            return self._set

    class Thread:
        def __init__(self, target: Callable[[], None], name: str, daemon: bool) -> None:
            self._target, self._name = target, name
            self._strand: Strand | None = None

        def start(self) -> None:
            self._strand = world.strand(world.current.actor, self._name, self._target)

        def is_alive(self) -> bool:
            return self._strand is not None and not self._strand.runs.dead

        def join(self) -> None:
            while self.is_alive():
                world.pause(_LOOK_SECONDS)

    class Lock:
        def __init__(self) -> None:
            self._taken = False

        def __enter__(self) -> None:
            while self._taken:
                world.pause(_LOOK_SECONDS)
            self._taken = True

        def __exit__(self, *_: object) -> None:
            self._taken = False

    with ExitStack() as patches:
        for name, fake in (("Event", Event), ("Thread", Thread)):
            patches.enter_context(mock.patch.object(heartbeat, name, fake))
        threads = SimpleNamespace(Event=Event, Thread=Thread, Lock=Lock)
        patches.enter_context(mock.patch.object(lease, "threading", threads))
        steady = SimpleNamespace(clock_gettime=lambda _clock: world.seconds)
        patches.enter_context(mock.patch.object(lease, "time", steady))
        defaults: Any = (lambda: world.seconds,)
        patches.enter_context(mock.patch.object(heartbeat.Heartbeat.__init__, "__defaults__", defaults))
        yield

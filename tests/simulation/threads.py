"""Threads of a simulated process: they take turns with the others, pause and die with their process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from hoodie.markers import batches, remote
from hoodie.transaction import early_conflicts, heartbeat
from hoodie.transaction.locks import lease
from hudi_services.services.timeline_server import tables
from tests.simulation.world import Strand, World

_LOOK_SECONDS = 0.05


@contextmanager
def simulated_threads(world: World) -> Iterator[None]:
    """For the time of the block the library's own threads are strands of the world, and use its time."""

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
            self._target, self._name, self._daemon = target, name, daemon
            self._strand: Strand | None = None

        def start(self) -> None:
            self._strand = world.strand(world.current.actor, self._name, self._target, daemon=self._daemon)

        def is_alive(self) -> bool:
            return self._strand is not None and not self._strand.runs.dead

        def join(self) -> None:
            while self.is_alive():
                world.pause(_LOOK_SECONDS)

    class Lock:
        """Also one that its holder may take again."""

        def __init__(self) -> None:
            self._holder: Strand | None = None
            self._depth = 0

        def __enter__(self) -> None:
            while self._holder not in (None, world.current):
                world.pause(_LOOK_SECONDS)
            self._holder = world.current
            self._depth += 1

        def __exit__(self, *_: object) -> None:
            self._depth -= 1
            if not self._depth:
                self._holder = None

    class Condition(Lock):
        def wait_for(self, met: Callable[[], Any], seconds: float = float("inf")) -> None:
            end = world.seconds + seconds
            while not met() and world.seconds < end:
                depth, self._depth, self._holder = self._depth, 0, None
                world.pause(min(_LOOK_SECONDS, end - world.seconds))
                self.__enter__()
                self._depth = depth

        def notify_all(self) -> None:
            pass

    class Future:
        def __init__(self) -> None:
            self._done: tuple[Any, BaseException | None] | None = None

        def done(self) -> bool:
            return self._done is not None

        def set_result(self, result: Any) -> None:
            self._done = (result, None)

        def set_exception(self, error: BaseException) -> None:
            self._done = (None, error)

        def result(self) -> Any:
            while self._done is None:
                world.pause(_LOOK_SECONDS)
            result, error = self._done
            if error is not None:
                raise error
            return result

    class Pool:
        def __init__(self, _workers: int, thread_name_prefix: str) -> None:
            self._name = thread_name_prefix
            self._begun: list[Strand] = []

        def submit(self, work: Callable[..., None], *arguments: Any) -> None:
            self._begun.append(world.strand(world.current.actor, self._name, lambda: work(*arguments)))

        def shutdown(self) -> None:
            while not all(strand.runs.dead for strand in self._begun):
                world.pause(_LOOK_SECONDS)

    def seconds() -> float:
        return world.seconds

    with ExitStack() as patches:
        for name, fake in (("Event", Event), ("Thread", Thread)):
            patches.enter_context(mock.patch.object(heartbeat, name, fake))
        threads = SimpleNamespace(Event=Event, Thread=Thread, Lock=Lock)
        patches.enter_context(mock.patch.object(lease, "threading", threads))
        patches.enter_context(mock.patch.object(lease, "steady_seconds", seconds))
        for module in (batches, early_conflicts):
            patches.enter_context(mock.patch.object(module, "time", SimpleNamespace(monotonic=seconds)))
        patches.enter_context(mock.patch.object(tables, "Lock", Lock))
        waiting = SimpleNamespace(Condition=Condition, Thread=Thread)
        for name, fake in (("threading", waiting), ("Future", Future), ("ThreadPoolExecutor", Pool)):
            patches.enter_context(mock.patch.object(batches, name, fake))
        patches.enter_context(mock.patch.object(remote, "random", world.dice))
        patches.enter_context(mock.patch.object(remote, "_given_up", set()))
        defaults: Any = (seconds,)
        patches.enter_context(mock.patch.object(heartbeat.Heartbeat.__init__, "__defaults__", defaults))
        yield

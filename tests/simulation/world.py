"""A world of one thread: actors, a storage in memory, and clocks. Between any two storage calls another actor may go on.

Every actor is a greenlet. One seed draws the next actor, the kills and the lost answers: the same seed gives the same run.
"""

from __future__ import annotations

import errno
import io
import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import pyarrow as pa
from greenlet import getcurrent, greenlet

from hoodie.storage.base import FileInfo, Listing, inside
from tests.support.faulty import Killed

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_LATEST = 5.0  # seconds by which a listing may lag
_MOST_STEPS = 200_000  # storage calls and waits of a run: more are a deadlock that moves


@dataclass(frozen=True)
class Chances:
    """Chances of the events at a storage call, each from 0 to 1."""

    kill: float = 0.0015
    lost_answer: float = 0.002  # the call was done, its caller sees an error
    failure: float = 0.002  # the call was not done, its caller sees the same error
    clock_jump: float = 0.002  # back by up to 5 s
    stop: float = 0.001  # the whole process pauses for up to 40 s
    late: float = 0.0  # a listing of a folder with data files is as it was up to 5 s ago


@dataclass
class Actor:
    """One process. `skew` (seconds) is the error of its clock. It pauses until `stopped` (seconds of the world)."""

    name: str
    skew: float
    dead: bool = False
    stopped: float = 0.0


@dataclass(eq=False)
class Strand:
    """A thread of an actor; it sleeps until `until` (seconds of the world)."""

    name: str
    actor: Actor
    runs: greenlet
    daemon: bool = False  # it does not keep its process alive
    until: float = 0.0

    @property
    def wakes(self) -> float:
        return max(self.until, self.actor.stopped)


@dataclass(frozen=True)
class Moment:
    """A file of the timeline that was made, or deleted (content None), at a step of the world."""

    step: int
    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a path, since a second of the world."""

    data: bytes
    since: float


@dataclass
class World:
    """The storage's files, the time, and whose turn it is."""

    seed: int
    chances: Chances = field(default_factory=Chances)
    base_path: str = "/simulated/table"
    files: dict[str, Stored] = field(default_factory=dict)  # by path
    gone: dict[str, tuple[Stored, float]] = field(default_factory=dict)  # data files by path, and when they went
    moments: list[Moment] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    step: int = 0
    seconds: float = 0.0
    calm: bool = False  # nothing goes wrong any more

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.current: Strand  # whose turn it is
        self._main = getcurrent()
        self._awaited = 0  # strands that are not daemons
        self._strands: list[Strand] = []
        self._next: Strand | None = None  # drawn, and not begun
        self._below: defaultdict[str, Counter[str]] = defaultdict(Counter)  # folder -> name -> how many files

    def actor(self, name: str, work: Callable[[Actor], None]) -> Actor:
        """A process that begins when its turn comes."""
        actor = Actor(name, self.dice.choice((0.0, 0.0, self.dice.uniform(-5, 5))))
        self.strand(actor, name, lambda: work(actor))
        return actor

    def strand(self, actor: Actor, name: str, work: Callable[[], None], *, daemon: bool = False) -> Strand:
        """A thread of the actor; it is killed with it."""

        def run() -> None:
            try:
                work()
            except Killed:
                actor.dead = True
            finally:
                self._strands.remove(made)
                self._awaited -= not daemon

        made = Strand(name, actor, greenlet(run, self._main), daemon)
        self._strands.append(made)
        self._awaited += not daemon
        return made

    def run(self) -> None:
        """Run until all have ended. An actor's exception ends the run. Raises AssertionError for one that never ends."""
        while self._strands:
            if not self._awaited:
                for strand in self._strands:
                    strand.actor.dead = True
            self.current = self._next or self._drawn()
            self._next = None
            self.current.runs.switch()

    def _drawn(self) -> Strand:
        """Draw the next strand of all that do not sleep."""
        assert self.step < _MOST_STEPS, f"no end after {self.step} steps: {[strand.name for strand in self._strands]}"
        now = self.seconds
        ready = [s for s in self._strands if s.until <= now and s.actor.stopped <= now]
        if not ready:
            now = self.seconds = min(strand.wakes for strand in self._strands)
            ready = [s for s in self._strands if s.until <= now and s.actor.stopped <= now]
        return ready[int(self.dice.random() * len(ready))]

    def pause(self, seconds: float = 0.0) -> None:
        """End the caller's turn, for at least this time. Raises Killed when its process has died."""
        strand = self.current
        strand.until = self.seconds + seconds
        self._next = self._drawn()
        if self._next is not strand:
            self._main.switch()
        else:
            self._next = None
        if strand.actor.dead:
            raise Killed(f"{strand.actor.name} is dead")

    def call(self, actor: Actor, name: str, path: str) -> Exception | None:
        """A storage call is about to be done; the error that its caller will see though it is done, if any.

        Raises Killed when the actor dies before it, OSError when it is not to be done.
        """
        if actor.dead:
            raise Killed(f"{actor.name} is dead")
        self.pause()
        self.step += 1
        self.seconds += 0.001
        self.trace.append(f"{self.step} {actor.name} {name} {path}")
        if self.calm:
            return None
        chances = self.chances
        kinds = (chances.kill, chances.lost_answer, chances.failure, chances.clock_jump, chances.stop)
        kill, lost, failure, jump, stop = accumulate(kinds)
        drawn = self.dice.random()
        unheard = TimeoutError(errno.ETIMEDOUT, "No answer", path)
        if drawn < kill:
            self.trace[-1] += " KILLED"
            actor.dead = True
            raise Killed(f"{actor.name} at step {self.step}: {name} {path}")
        if drawn < lost:
            self.trace[-1] += " LOST"
            return unheard
        if drawn < failure:
            self.trace[-1] += " FAILED"
            raise unheard
        if drawn < jump:
            actor.skew -= self.dice.uniform(0, 5)
        elif drawn < stop:
            self.trace[-1] += " STOPPED"
            actor.stopped = self.seconds + self.dice.uniform(0, 40)
            self.pause()
        return None

    def put(self, path: str, data: bytes) -> None:
        """A new file. Raises FileExistsError."""
        if path in self.files:
            raise FileExistsError(errno.EEXIST, "File exists", path)
        self._keep(path, Stored(data, self.seconds))

    def take(self, path: str) -> Stored | None:
        """Remove a file; None when it is not there."""
        stored = self.files.pop(path, None)
        if stored is not None:
            self._count(path, -1)
            if path.startswith(".hoodie/"):
                self.moments.append(Moment(self.step, path, None))
            else:
                self.gone[path] = (stored, self.seconds)
        return stored

    def move(self, path: str, to: str) -> None:
        """A file gets another name, and keeps its age."""
        stored = self.take(path)
        if stored is not None and to not in self.files:
            self._keep(to, stored)

    def below(self, folder: str) -> Sequence[str]:
        """The names in a folder, in order."""
        return sorted(self._below[folder])

    def _keep(self, path: str, stored: Stored) -> None:
        self.files[path] = stored
        self._count(path, 1)
        if path.startswith(".hoodie/"):
            self.moments.append(Moment(self.step, path, stored.data))

    def _count(self, path: str, more: int) -> None:
        while path:
            path, _, name = path.rpartition("/")
            names = self._below[path]
            names[name] += more
            if not names[name]:
                del names[name]

    def copy_table(self, other: World) -> None:
        """Begin with the table of another world, and at its time."""
        for path, stored in other.files.items():
            self._keep(path, stored)
        self.moments = list(other.moments)
        self.step, self.seconds = other.step, other.seconds


class SimulatedClock:
    """The clock of an actor."""

    def __init__(self, world: World, actor: Actor) -> None:
        self._world, self._actor = world, actor

    def now(self) -> datetime:
        return _BEGIN + timedelta(seconds=self._world.seconds + self._actor.skew)

    def sleep(self, seconds: float) -> None:
        if self._actor.dead:
            raise Killed(f"{self._actor.name} is dead")
        self._world.pause(seconds)

    def uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self._world.dice.getrandbits(128), version=4)


class SimulatedStorage:
    """The table's folder as one actor sees it."""

    def __init__(self, world: World, actor: Actor) -> None:
        self._world, self._actor = world, actor

    @property
    def base_path(self) -> str:
        return self._world.base_path

    @contextmanager
    def _called(self, name: str, path: str) -> Iterator[None]:
        inside(self.base_path, path)
        lost = self._world.call(self._actor, name, path)
        yield
        if lost is not None:
            raise lost

    def list(self, folder: str) -> Listing:
        with self._called("list", folder):
            if not folder.startswith(".hoodie") and not self._world.calm:
                chances, dice = self._world.chances, self._world.dice
                if chances.late and dice.random() < chances.late:
                    return self._late(folder, self._world.seconds - dice.uniform(0, _LATEST))
            prefix = f"{folder}/" if folder else ""
            paths = [prefix + name for name in self._world.below(folder)]
            known = self._world.files
            return Listing(
                tuple(self._info(path) for path in paths if path in known), tuple(p for p in paths if p not in known)
            )

    def _late(self, folder: str, moment: float) -> Listing:
        """The data files as they were at that moment."""
        prefix = f"{folder}/" if folder else ""
        then = {path: stored for path, (stored, gone) in self._world.gone.items() if gone > moment} | self._world.files
        below = sorted(path for path, stored in then.items() if path.startswith(prefix) and stored.since <= moment)
        names = [path[len(prefix) :].partition("/") for path in below]
        files = tuple(_told(path, then[path]) for path, (_, deeper, _) in zip(below, names, strict=True) if not deeper)
        return Listing(files, tuple(dict.fromkeys(prefix + name for name, deeper, _ in names if deeper)))

    def _info(self, path: str) -> FileInfo:
        return _told(path, self._world.files[path])

    def info(self, path: str) -> FileInfo | None:
        with self._called("info", path):
            return self._info(path) if path in self._world.files else None

    def read(self, path: str) -> bytes:
        with self._called("read", path):
            return self._content(path)

    def open_input(self, path: str) -> Any:
        with self._called("open_input", path):
            return pa.BufferReader(self._content(path))

    def _content(self, path: str) -> bytes:
        if path not in self._world.files:
            raise FileNotFoundError(errno.ENOENT, "No such file", path)
        return self._world.files[path].data

    @contextmanager
    def open_output(self, path: str) -> Iterator[io.BytesIO]:
        with self._called("open_output", path):
            if path in self._world.files:
                raise FileExistsError(errno.EEXIST, "File exists", path)
        sink = _Kept()
        yield sink
        with self._called("close_output", path):
            self._world.put(path, sink.getvalue())

    def create(self, path: str, data: bytes) -> None:
        with self._called("create", path):
            self._world.put(path, data)

    def touch(self, path: str) -> None:
        with self._called("touch", path):
            self._world.take(path)
            self._world.put(path, b"")

    def replace(self, path: str, old: bytes, new: bytes) -> bool:
        with self._called("replace", path):
            if path not in self._world.files or self._content(path) != old:
                return False
            self._world.take(path)
            self._world.put(path, new)
            return True

    def delete(self, path: str) -> bool:
        with self._called("delete", path):
            return self._world.take(path) is not None

    def move(self, path: str, to: str) -> bool:
        with self._called("move", path):
            if path not in self._world.files:
                return False
            if self._world.files.get(to, self._world.files[path]).data != self._content(path):
                raise FileExistsError(errno.EEXIST, "File exists", to)
            self._world.move(path, to)
            return True

    def delete_folder(self, folder: str) -> None:
        with self._called("delete_folder", folder):
            for path in [path for path in self._world.files if path.startswith(f"{folder}/")]:
                self._world.take(path)

    def sweep(self, folders: Sequence[str]) -> None:
        """Nothing is ever left unfinished here."""


def _told(path: str, stored: Stored) -> FileInfo:
    return FileInfo(path, len(stored.data), int((_BEGIN.timestamp() + stored.since) * 1000))


class _Kept(io.BytesIO):
    """A file that can still be read when its writer has closed it."""

    def close(self) -> None:
        pass

"""What the actors do, and what must hold whatever happens to them.

Every write puts a value into its rows that no other has, and its number into its commit: so what a reader sees tells which
commits it saw. The invariants follow the TLA+ model of Hudi by J. Vanlightly (2024).
"""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from hoodie import ARCHIVE, CLEAN, COMPACTION, HoodieTable
from hoodie.engine import LocalEngine, local
from hoodie.errors import HoodieError, MissingFileError, UnclearCommitError
from hoodie.index import new_keys
from hoodie.timeline import WRITE_ACTIONS, Instant, State, parse_name
from hoodie.transaction import guard
from hoodie.view import TableState, files, written
from hoodie.view.written import memory
from tests.simulation.threads import simulated_threads
from tests.simulation.world import Actor, Chances, SimulatedClock, SimulatedStorage, World
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content

KEYS = tuple(f"k{number}" for number in range(6))
_NUMBER = "simulation.number"  # of a write, in the extra metadata of its commit
_WAIT_MS = 60_000
_SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
    "hoodie.compact.inline.max.delta.commits": 1,
    "hoodie.timeline.compaction.batch.size": 2,
    "hoodie.write.lock.wait_time_ms": _WAIT_MS,
}

Rows = dict[str, int | None]
"""By key its value; None is a deletion."""


@dataclass
class Write:
    """One call of `HoodieTable.write`, and what its caller was told."""

    number: int
    operation: str
    keys: tuple[str, ...]
    acknowledged: bool = False
    unclear: bool = False  # its caller cannot know: killed, or told so


@dataclass(frozen=True)
class Sight:
    """What a reader saw, between two steps of the world."""

    begun: int
    ended: int
    rows: Rows


@dataclass(frozen=True)
class Plot:
    """What a run is made of."""

    kind: str
    version: str
    writers: int = 2
    writes: int = 3  # of each writer
    pause: float = 1.0  # the most seconds between two of them
    operations: tuple[str, ...] = ("upsert", "upsert", "upsert", "delete")
    archive: bool = False
    options: dict[str, str] = field(default_factory=dict)
    chances: Chances = field(default_factory=Chances)


class Scene:
    """A run of a plot."""

    def __init__(self, seed: int, plot: Plot) -> None:
        self.world = World(seed, plot.chances)
        self.plot = plot
        self.writes: list[Write] = []
        self.sights: list[Sight] = []

    def play(self) -> None:
        """Make the table, let the actors do what they like, then check. Raises AssertionError."""
        memory.clear()
        world = self.world
        names = SimulatedClock(world, Actor("names", 0.0))
        with ExitStack() as patches:
            # Names of file groups and write tokens begin anew, so that a seed always makes the same files.
            patches.enter_context(mock.patch.object(uuid, "uuid4", names.uuid))
            patches.enter_context(mock.patch.object(local, "_ATTEMPTS", itertools.count()))
            for module in (files, written, new_keys, guard):  # what helper threads do could not be interrupted
                patches.enter_context(mock.patch.object(module, "ThreadPoolExecutor", _OneAfterTheOther))
            patches.enter_context(simulated_threads(world))
            self._play(world)

    def _play(self, world: World) -> None:
        world.calm = True
        world.actor("maker", self._make)
        world.run()
        world.calm = False
        for number in range(self.plot.writers):
            world.actor(f"writer {number}", self._write)
        world.actor("cleaner", self._clean)
        if self.plot.archive:
            world.actor("archiver", self._archive)
        world.actor("reader", self._read)
        if self.plot.kind == "MERGE_ON_READ":
            world.actor("compactor", self._compact)
        world.run()
        world.calm = True
        world.actor("last", self._finish)
        world.run()

    def _table(self, actor: Actor) -> HoodieTable:
        storage, clock = SimulatedStorage(self.world, actor), SimulatedClock(self.world, actor)
        return HoodieTable(storage, LocalEngine(1), clock)  # type: ignore[arg-type]

    def _make(self, actor: Actor) -> None:
        options = {**OPTIONS, "hoodie.table.type": self.plot.kind, "hoodie.write.table.version": self.plot.version}
        options["hoodie.record.merge.mode"] = "COMMIT_TIME_ORDERING"
        storage, clock = SimulatedStorage(self.world, actor), SimulatedClock(self.world, actor)
        HoodieTable.create(storage, options, engine=LocalEngine(1), clock=clock)  # type: ignore[arg-type]
        self._one(actor, "upsert", KEYS[:3])

    def _write(self, actor: Actor) -> None:
        dice = random.Random(f"{self.world.seed} {actor.name}")
        for _ in range(self.plot.writes):
            keys = tuple(dice.sample(KEYS, dice.randint(1, 3)))
            operation = dice.choice(self.plot.operations)
            self._attempt(actor, lambda o=operation, k=keys: self._one(actor, o, k))  # type: ignore[misc]
            self.world.pause(dice.random() * dice.choice((0.1, self.plot.pause)))

    def _one(self, actor: Actor, operation: str, keys: tuple[str, ...]) -> None:
        write = Write(len(self.writes), operation, keys, unclear=True)
        self.writes.append(write)
        rows = batch([(key, "pqr"[int(key[1:]) % 3], 1, write.number) for key in keys])
        options = {**SMALL_BLOOM, "hoodie.write.lock.wait_time_ms": _WAIT_MS, **self.plot.options}
        try:
            self._table(actor).write(rows, operation, options, extra_metadata={_NUMBER: str(write.number)})
        except UnclearCommitError:
            raise
        except HoodieError:
            write.unclear = False
            raise
        write.acknowledged, write.unclear = True, False

    def _clean(self, actor: Actor) -> None:
        for _ in range(2):
            self.world.pause(1.0)
            self._attempt(
                actor, lambda: self._table(actor).run(CLEAN, {"hoodie.clean.commits.retained": 1, **self.plot.options})
            )

    def _archive(self, actor: Actor) -> None:
        for _ in range(3):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).run(ARCHIVE, {**_SHORT, **_of_locks(self.plot.options)}))

    def _compact(self, actor: Actor) -> None:
        for _ in range(2):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).schedule(COMPACTION, self.plot.options, force=True))
            self._attempt(actor, lambda: self._table(actor).run(COMPACTION, {**SMALL_BLOOM, **self.plot.options}))

    def _attempt(self, actor: Actor, act: Callable[[], Any]) -> None:
        try:
            act()
        except HoodieError as error:
            self.world.trace.append(f"{self.world.step} {actor.name} was told: {error}")

    def _read(self, actor: Actor) -> None:
        for _ in range(6):
            begun = self.world.step
            try:
                self.sights.append(Sight(begun, 0, _rows(self._table(actor))))
            except MissingFileError:  # a cleaner does not know of readers yet
                continue
            except HoodieError as error:
                self.world.trace.append(f"{self.world.step} {actor.name} was told: {error}")
                continue
            self.sights[-1] = Sight(begun, self.world.step, self.sights[-1].rows)
            self.world.pause(0.3)

    def _finish(self, actor: Actor) -> None:
        """A last write repairs what was left, plans that wait are carried out; then everything is looked at."""
        actor.skew = 0.0
        self.world.seconds += 3600  # whoever was dead is known to be
        self._one(actor, "upsert", KEYS[:1])
        if self.plot.kind == "MERGE_ON_READ":
            self._table(actor).run(COMPACTION, SMALL_BLOOM)  # what was planned, and perhaps begun
        self._check(self._table(actor))

    def _check(self, table: HoodieTable) -> None:
        state = table.state()
        commits: dict[int, Instant] = {}
        for instant in _commits(state):
            number = state.commit_metadata(instant).extra.get(_NUMBER)
            if number is not None:
                assert int(number) not in commits, f"write {number} was committed twice"
                commits[int(number)] = instant
        for write in self.writes:
            there = write.number in commits
            assert there or not write.acknowledged, f"{write} was acknowledged and is not on the timeline"
            assert not there or write.acknowledged or write.unclear, f"{write} was refused and is on the timeline"
        order = sorted(commits, key=lambda number: commits[number].completion_time or "")
        states = self._replayed(order)
        assert _rows(table) == states[-1], "the table is not what the acknowledged writes add up to"
        done = [self._completed_at(commits[number]) for number in order]
        for sight in self.sights:
            first, last = sum(step <= sight.begun for step in done), sum(step <= sight.ended for step in done)
            assert sight.rows in states[first : last + 1], f"a reader saw what was never there: {sight}"
        self._nothing_left(table)

    def _replayed(self, order: list[int]) -> list[Rows]:
        states: list[Rows] = [{}]
        for number in order:
            write = self.writes[number]
            rows = dict(states[-1])
            for key in write.keys:
                rows.pop(key, None) if write.operation == "delete" else rows.update({key: number})
            states.append(rows)
        return states

    def _completed_at(self, instant: Instant) -> int:
        wanted = (instant.time, instant.action, State.COMPLETED)
        for made in self.world.created:
            time, _, action, state = parse_name(made.path.rpartition("/")[2]) or (None, None, None, None)
            if (time, action, state) == wanted:
                return made.step
        raise AssertionError(f"{instant} was never completed")

    def _nothing_left(self, table: HoodieTable) -> None:
        """No data file that no commit names, no markers, no locks, nothing pending but plans."""
        state = table.state()
        named = {stat.path for instant in _commits(state) for stat in state.commit_metadata(instant).stats}
        data = {path for path in self.world.files if not path.startswith(".hoodie/") and "/.hoodie_" not in path}
        assert data <= named, f"files of no commit: {sorted(data - named)}"
        pending = {str(instant.time) for instant in state.timeline.pending}
        left = [
            path for path in self.world.files if path.startswith(".hoodie/.temp/") and path.split("/")[2] not in pending
        ]
        assert not left, f"markers were left: {left}"
        assert ".hoodie/lock" not in self.world.files, "the lock was left"


class _OneAfterTheOther:
    """A thread pool without threads."""

    def __init__(self, _workers: int) -> None:
        pass

    def __enter__(self) -> _OneAfterTheOther:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Callable[[Any], Any], *items: Iterable[Any]) -> list[Any]:
        """All results, in order."""
        return list(map(function, *items))


def _commits(state: TableState) -> list[Instant]:
    """Archived ones, too, as their active files told them; one that is still on the timeline counts once."""
    found = {i.key: i for i in (*state.archive.instants(), *state.timeline.commits)}
    return [instant for instant in found.values() if instant.action.completed_as in WRITE_ACTIONS]


def _of_locks(options: dict[str, str]) -> dict[str, str]:
    """Those that an archiver takes, too: it shares the table by its lock alone."""
    return {name: value for name, value in options.items() if name.startswith("hoodie.write.lock.")}


def _rows(table: HoodieTable) -> Rows:
    return {key: value for key, (_, _, value) in content(table).items()}

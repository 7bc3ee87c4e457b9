"""The acts of the actors: every write puts a value into its rows that no other has, and its number into its commit. So a reader's
rows name the commits it saw (`judge`).
"""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest import mock

from hoodie import ARCHIVE, CLEAN, CLUSTERING, COMPACTION, GiveUpClustering, HoodieTable, Restore, Rollback, Undelete
from hoodie.engine import LocalEngine, local
from hoodie.errors import HoodieError, MissingFileError, PendingInstantError, UnclearCommitError
from hoodie.index import new_keys
from hoodie.timeline import Instant, rollbacks
from hoodie.transaction import guard
from hoodie.view import committed_files, files
from hoodie.view.committed_files import memory
from tests.simulation.judge import NUMBER, REPLACING, Asked, Sight, Write, judge, partition_of, rows_of
from tests.simulation.server import simulated_server
from tests.simulation.threads import simulated_threads
from tests.simulation.world import Actor, Chances, SimulatedClock, SimulatedStorage, World
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch

KEYS = tuple(f"k{number}" for number in range(6))
_WAIT_MS = 60_000
_SHORT = {
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.clean.commits.retained": 1,
    "hoodie.compact.inline.max.delta.commits": 1,
    "hoodie.timeline.compaction.batch.size": 2,
    "hoodie.write.lock.wait_time_ms": _WAIT_MS,
}

PLAIN = {**SMALL_BLOOM, "hoodie.parquet.compression.codec": "uncompressed"}


@dataclass(frozen=True)
class Plot:
    """The settings of a run."""

    kind: str
    version: str
    writers: int = 2
    writes: int = 3  # of each writer
    pause: float = 1.0  # the most seconds between two of them
    operations: tuple[str, ...] = ("upsert", "upsert", "upsert", "delete")
    besides: tuple[str, ...] = ()  # what others do: names of `_OTHERS`
    options: dict[str, str] = field(default_factory=dict)
    made: tuple[tuple[str, str], ...] = ()  # options of the first write, which say how the table is laid out
    ordered: bool = (
        False  # the greatest value of a key wins, not the last; what replaces rows is then an optimistic write
    )
    moves: bool = False  # a write takes its rows to another partition than the last one
    chances: Chances = field(default_factory=Chances)


class Scene:
    """A run of a plot."""

    def __init__(self, seed: int, plot: Plot) -> None:
        self.world = World(seed, plot.chances)
        self.plot = plot
        self.asked = Asked()

    def play(self) -> None:
        """Make the table, let the actors do what they like, then check. Raises AssertionError."""
        with _one_process(self.world):
            self.world.copy_table(_begun(self.plot.kind, self.plot.version, self.plot.made, self.plot.ordered))
            self.asked.writes.append(Write(0, "upsert", KEYS[:3], acknowledged=True))
            self._play(self.world)

    def _play(self, world: World) -> None:
        for number in range(self.plot.writers):
            world.actor(f"writer {number}", self._write)
        world.actor("cleaner", self._clean)
        for name in self.plot.besides:
            world.actor(name, _OTHERS[name].__get__(self))
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

    def _write(self, actor: Actor) -> None:
        dice = random.Random(f"{self.world.seed} {actor.name}")
        for _ in range(self.plot.writes):
            keys = tuple(dice.sample(KEYS, dice.randint(1, 3)))
            operation = dice.choice(self.plot.operations)
            self._attempt(actor, lambda o=operation, k=keys: self._one(actor, o, k))  # type: ignore[misc]
            self.world.pause(dice.random() * dice.choice((0.1, self.plot.pause)))

    def _one(self, actor: Actor, operation: str, keys: tuple[str, ...]) -> None:
        write = Write(len(self.asked.writes), operation, keys, unclear=True)
        self.asked.writes.append(write)
        step = write.number if self.plot.moves else 0
        order = write.number if self.plot.ordered else 1
        rows = batch([(key, partition_of(key, step), order, write.number) for key in keys])
        options = {**PLAIN, **dict(self.plot.made), "hoodie.write.lock.wait_time_ms": _WAIT_MS, **self.plot.options}
        if self.plot.ordered and operation in REPLACING:
            options["hoodie.write.concurrency.mode"] = "optimistic_concurrency_control"
        try:
            self._table(actor).write(rows, operation, options, extra_metadata={NUMBER: str(write.number)})
        except UnclearCommitError:
            raise
        except HoodieError:
            write.unclear = False
            raise
        write.acknowledged, write.unclear = True, False

    def _clean(self, actor: Actor) -> None:
        options = {"hoodie.clean.commits.retained": 1, **self.plot.options}
        if "undeleter" in self.plot.besides:
            options["hoodie.delete.grace.hours"] = 1
        for _ in range(2):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).run(CLEAN, options))

    def _undelete(self, actor: Actor) -> None:
        for _ in range(3):
            self.world.pause(1.5)
            self._attempt(actor, lambda: self._table(actor).run(Undelete(), _of_locks(self.plot.options)))

    def _archive(self, actor: Actor) -> None:
        for _ in range(3):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).run(ARCHIVE, {**_SHORT, **_of_locks(self.plot.options)}))

    def _compact(self, actor: Actor) -> None:
        for _ in range(2):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).schedule(COMPACTION, self.plot.options, force=True))
            self._attempt(actor, lambda: self._table(actor).run(COMPACTION, {**PLAIN, **self.plot.options}))

    def _cluster(self, actor: Actor) -> None:
        for _ in range(3):
            self.world.pause(1.0)
            self._attempt(actor, lambda: self._table(actor).schedule(CLUSTERING, self.plot.options, force=True))
            self.world.pause(0.3)
            self._attempt(actor, lambda: self._table(actor).run(CLUSTERING, {**PLAIN, **self.plot.options}))

    def _end_clusterings(self, actor: Actor) -> None:
        """Plans that wait hold back who writes to their file groups: they are carried out, or given up where that is too late."""
        action = self._table(actor).state().layout.clustering
        for pending in [each for each in self._table(actor).timeline.pending if each.action is action]:
            try:
                self._table(actor).run(CLUSTERING, PLAIN)
            except PendingInstantError:
                self._give_up(actor, pending)

    def _give_up(self, actor: Actor, plan: Instant) -> None:
        """The plan is gone already if its rollback had died: the next service finishes that first."""
        try:
            self._table(actor).run(GiveUpClustering(plan.time))
        except PendingInstantError:
            assert plan.time not in {pending.time for pending in self._table(actor).timeline.pending}

    def _roll_back(self, actor: Actor) -> None:
        """The last commit, or one that is not complete."""
        dice = random.Random(f"{self.world.seed} {actor.name}")
        for _ in range(3):
            self.world.pause(dice.random() * 2)
            self._attempt(actor, lambda: self._take_back(actor, dice))

    def _take_back(self, actor: Actor, dice: random.Random) -> None:
        timeline = self._table(actor).timeline
        times = [each.time for each in (*timeline.commits[-1:], *timeline.pending)]
        if not times:
            return
        time = dice.choice(times)
        table, rollback = self._table(actor), Rollback(time)
        decision = table.explain(rollback, _of_locks(self.plot.options))
        if decision.plan is None:
            return
        self.asked.rollbacks.add(time)
        if table.run(rollback.agreed(decision), _of_locks(self.plot.options)).instant is not None:
            self.asked.rolled_back.add(time)

    def _restore(self, actor: Actor) -> None:
        """A savepoint, and back to it, twice."""
        dice = random.Random(f"{self.world.seed} {actor.name}")
        options = _of_locks(self.plot.options)
        for _ in range(2):
            self.world.pause(dice.random())
            self._attempt(actor, lambda: self._table(actor).savepoint(options=options))
            self.world.pause(dice.random() * dice.choice((1, 20)))
            self._attempt(actor, lambda: self._go_back(actor, options))
        for saved in self._saved(actor):
            self._attempt(actor, lambda time=saved: self._table(actor).delete_savepoint(time, options))  # type: ignore[misc]

    def _saved(self, actor: Actor) -> list[str]:
        found: list[str] = []
        self._attempt(actor, lambda: found.extend(each.instant for each in self._table(actor).savepoints()))
        return found

    def _go_back(self, actor: Actor, options: dict[str, str]) -> None:
        for saved in self._saved(actor)[-1:]:
            table, restore = self._table(actor), Restore(saved)
            decision = table.explain(restore, options)
            if decision.plan is not None:
                table.run(restore.agreed(decision), options)

    def _attempt(self, actor: Actor, act: Callable[[], Any]) -> None:
        try:
            act()
        except HoodieError as error:
            self.world.trace.append(f"{self.world.step} {actor.name} was told: {error}")

    def _read(self, actor: Actor) -> None:
        for _ in range(6):
            begun = self.world.step
            try:
                rows = rows_of(self._table(actor))
            except MissingFileError:  # a cleaner does not know of readers yet
                continue
            except HoodieError as error:
                self.world.trace.append(f"{self.world.step} {actor.name} was told: {error}")
                continue
            self.asked.sights.append(Sight(begun, self.world.step, rows))
            self.world.pause(0.3)

    def _finish(self, actor: Actor) -> None:
        """A last write repairs what was left, plans that wait are carried out; then everything is looked at."""
        actor.skew = 0.0
        self.world.seconds += 3600  # any dead process is known to be dead
        if "clusterer" in self.plot.besides:
            self._end_clusterings(actor)
        self._one(actor, "upsert", KEYS[:1])
        if self.plot.kind == "MERGE_ON_READ":
            self._table(actor).run(COMPACTION, PLAIN)  # what was planned, and perhaps begun
        judge(self._table(actor), self.world, self.asked, ordered=self.plot.ordered)


@contextmanager
def _one_process(world: World) -> Iterator[None]:
    """Reset the state that the world's processes share with this one, and let it wait only for the world."""
    memory.clear()
    rollbacks.memory.clear()
    names = SimulatedClock(world, Actor("names", 0.0))
    with ExitStack() as patches:
        # Names of file groups and write tokens restart, so that a seed always makes the same files.
        patches.enter_context(mock.patch.object(uuid, "uuid4", names.uuid))
        patches.enter_context(mock.patch.object(local, "_ATTEMPTS", itertools.count()))
        # Nothing could interrupt a helper thread.
        patches.enter_context(mock.patch.object(new_keys, "ThreadPoolExecutor", _OneAfterTheOther))
        for module in (files, committed_files, guard):
            patches.enter_context(mock.patch.object(module, "map_on_threads", _one_after_the_other))
        patches.enter_context(simulated_threads(world))
        patches.enter_context(simulated_server(world))
        yield


@cache
def _begun(kind: str, version: str, made: tuple[tuple[str, str], ...], ordered: bool) -> World:
    """A table with one write, as every run finds it."""
    world = World(0, calm=True)

    def make(actor: Actor) -> None:
        options = {**OPTIONS, "hoodie.table.type": kind, "hoodie.write.table.version": version}
        options["hoodie.record.merge.mode"] = "EVENT_TIME_ORDERING" if ordered else "COMMIT_TIME_ORDERING"
        storage, clock = SimulatedStorage(world, actor), SimulatedClock(world, actor)
        table = HoodieTable.create(storage, options, engine=LocalEngine(1), clock=clock)  # type: ignore[arg-type]
        rows = batch([(key, partition_of(key), 1, 0) for key in KEYS[:3]])
        table.write(rows, "upsert", {**PLAIN, **dict(made)}, extra_metadata={NUMBER: "0"})

    with _one_process(world):
        world.actor("maker", make)
        world.run()
    return world


_OTHERS: dict[str, Any] = {
    "archiver": Scene._archive,
    "clusterer": Scene._cluster,
    "undeleter": Scene._undelete,
    "undoer": Scene._roll_back,
    "keeper": Scene._restore,
}


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


def _one_after_the_other(function: Callable[[Any], Any], items: Sequence[Any], _at_once: int) -> list[Any]:
    return list(map(function, items))


def _of_locks(options: dict[str, str]) -> dict[str, str]:
    """Those that an archiver takes, too: it shares the table by its lock alone."""
    return {name: value for name, value in options.items() if name.startswith("hoodie.write.lock.")}

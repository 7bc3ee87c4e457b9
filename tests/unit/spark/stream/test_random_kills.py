"""A stream takes the changes of a table into a second one, a consumer reads them there, and all parts are killed."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.spark.stream.batch_writer import SinkWrites
from hoodie.spark.stream.batches import KEY, StreamBatch
from hoodie.spark.stream.sink import StreamSink
from hoodie.write.change_rows import ChangeColumns
from tests.support.changes import apply, counted
from tests.support.clock import FakeClock
from tests.support.examples import HUNT_SEED, fixed_seeds
from tests.support.faulty import FaultyStorage, Killed
from tests.support.history import AT_COMMIT, FIRST, History, random_steps
from tests.support.matrix import sample
from tests.support.streams import Checkpoint, FaultyReader
from tests.support.tables import SMALL_BLOOM, create

KILLS = 1_000 if HUNT_SEED else 10  # in each case
CALLS = 60  # a part dies at one of its first calls: an average run of it makes as many
ACTIONS = ("upsert", "upsert", "delete", "schedule", "compact", "insert_overwrite")


@dataclass
class Batch:
    """A batch of a stream, as the sink asks Spark for it."""

    rows: pa.Table
    write = MagicMock()  # the writer that computes all rows

    def limit(self, count):
        return Batch(self.rows.slice(0, count))

    def toArrow(self):
        return self.rows


@dataclass
class Query:
    """A query from one table into another, a run of which may die."""

    source: HoodieTable
    target: HoodieTable
    dice: random.Random
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    runs: int = 0

    def run(self, reads, writes):
        """Apply all changes that there are, through these storages of the source and of the target."""
        self.runs += 1
        sink = StreamSink(SinkWrites(writes, "upsert", SMALL_BLOOM, changes=ChangeColumns()), None, 1_000)

        def deliver(number, batches):
            if batches:
                sink._write(Batch(pa.Table.from_batches(batches)), StreamBatch("query", number, f"run {self.runs}"))
            if self.dice.random() < 0.2:
                raise Killed

        self.checkpoint.run(FaultyReader(reads, {"hoodie.datasource.query.incremental.format": "cdc"}), deliver)


@dataclass
class Program:
    """It keeps what a consumer hands out, with the position, in a database of its own."""

    table: HoodieTable
    rows: Counter = field(default_factory=Counter)
    position: str | None = None

    def run(self, storage):
        consumer = HoodieTable(storage, LocalEngine(1), self.table.clock).consumer("program")
        if self.position not in (None, consumer.position):
            consumer.commit(self.position)
        rows = Counter(self.rows)
        apply(rows, consumer.read().to_pylist())
        self.rows, self.position = rows, consumer.next_position  # one transaction
        consumer.commit()


@dataclass
class Executioner:
    """Runs parts, and kills them at calls of their storages that are drawn."""

    dice: random.Random
    kills: int = 0

    def step(self, run, *tables):
        """Run a part on these tables, whose storages may die, until it ends."""
        while True:
            deadly = self.dice.randrange(len(tables))
            storages = [
                FaultyStorage(
                    table.base_path,
                    self.dice.randint(1, CALLS) if place == deadly and self.dice.random() < 0.9 else None,
                    half=self.dice.random() < 0.3,
                )
                for place, table in enumerate(tables)
            ]
            try:
                return run(*storages)
            except Killed:
                self.kills += 1


def batches_of(table):
    """The numbers of the batches that its commits hold."""
    state = table.state()
    texts = [state.commit_metadata(instant).extra.get(KEY + "query") for instant in state.newest_commits()]
    return [json.loads(text)["batch"] for text in texts if text]


@pytest.mark.parametrize(
    ("kind", "version", "mode"), sample([("MERGE_ON_READ", "9", "COMMIT"), ("COPY_ON_WRITE", "8", "EVENT")], 0)
)
def test_every_change_is_applied_and_handed_out_once(tmp_path, kind, version, mode):
    kills = 0
    for seed in fixed_seeds(KILLS):
        dice = random.Random(seed)
        history = History(tmp_path / f"{seed}/s", kind, version, f"{mode}_TIME_ORDERING")
        options = {"hoodie.table.type": kind, "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
        target = create(tmp_path / f"{seed}/t", FakeClock(), **options)
        query, program, executioner = Query(history.table, target, dice), Program(target), Executioner(dice)
        for step in random_steps(seed, 6, ACTIONS):
            history.run(step)
            if step.dies == AT_COMMIT:
                history.run(FIRST)  # takes back what the killed write has left
            executioner.step(query.run, history.table, target)
            assert counted(target.read()) == counted(history.table.read()), (seed, query.checkpoint.done)
            executioner.step(program.run, target)
            assert program.rows == counted(target.read()), (seed, query.checkpoint.done)
        assert len(batches_of(target)) == len(set(batches_of(target))), seed
        kills += executioner.kills
        if kills >= KILLS:
            break
    assert kills >= KILLS
    print(f"{kills} kills")

"""Random histories with each index: upserts, deletions, inserts, cleans, compactions and deaths, held against a dict.

The later write wins, so that the dict is all there is to know; what ordering values decide is in the tests of each index.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from tests.support.clock import FakeClock
from tests.support.examples import seeds
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import diagonal
from tests.support.random_writes import BY_COMMIT_TIME
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.histories

KEYS = tuple(f"k{number}" for number in range(12))
COUNT = "hoodie.bucket.index.num.buckets"
STAYS = "hoodie.simple.index.update.partition.path"
INDEXES = {
    "BLOOM": {},
    "BUCKET": {COUNT: 3},
    "rings": {"hoodie.index.type": "BUCKET", COUNT: 3, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"},
    "GLOBAL_SIMPLE": {},
    "GLOBAL_BLOOM": {},
    "stays": {"hoodie.index.type": "GLOBAL_SIMPLE", STAYS: "false"},
}
ACTIONS = ("upsert", "upsert", "upsert", "delete", "insert", "clean", "schedule", "compact")


class Model:
    """key -> (partition, value) where keys are global, (key, partition) -> (partition, value) otherwise."""

    def __init__(self, index):
        self.rows, self.anywhere, self.moves = {}, index.startswith("GLOBAL") or index == "stays", index != "stays"

    def name(self, key, part):
        return key if self.anywhere else (key, part)

    def write(self, operation, rows):
        latest = {self.name(key, part): (key, part, value) for key, part, value in rows}
        for name, (_, part, value) in latest.items():
            if operation == "delete":
                self.rows.pop(name, None)
            else:
                stays = self.anywhere and not self.moves and name in self.rows
                self.rows[name] = (self.rows[name][0] if stays else part, value)

    def fresh(self, rows):
        """Rows to insert with new keys, once each: a stored one would be there twice."""
        wanted = {self.name(key, part): (key, part, value) for key, part, value in rows}
        return [row for name, row in wanted.items() if name not in self.rows]


def act(table, operation, rows, options):
    if operation == "clean":
        table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    elif operation in ("schedule", "compact"):
        run = table.schedule if operation == "schedule" else table.run
        run(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
    else:
        table.write(batch([(key, part, 0, value) for key, part, value in rows]), operation, options)


KINDS = [(index, kind) for index in INDEXES for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
KINDS.remove(("rings", "COPY_ON_WRITE"))  # Hudi has none


@pytest.mark.parametrize("seed", seeds(6, part=6))
@pytest.mark.parametrize(("version", "index", "kind"), diagonal(["9", "6"], KINDS))
def test_histories(tmp_path, index, version, kind, seed):
    dice = random.Random(f"{index}{version}{kind}{seed}")
    made = {"hoodie.table.type": kind, "hoodie.write.table.version": version, **BY_COMMIT_TIME}
    if version == "6":
        made["hoodie.datasource.write.payload.class"] = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
        del made["hoodie.record.merge.mode"]
    table = create(tmp_path / "t", FakeClock(), LocalEngine(1), **made)
    options = {**SMALL_BLOOM, "hoodie.index.type": index, "hoodie.parquet.small.file.limit": dice.choice([0, 10**8])}
    options |= INDEXES[index]
    model = Model(index)
    for step in range(14):
        operation = dice.choice(ACTIONS)
        rows = [(dice.choice(KEYS), dice.choice("pqr"), step * 10 + number) for number in range(dice.randint(1, 6))]
        if operation == "insert":
            rows = model.fresh(rows)
        if not rows or (operation in ("schedule", "compact") and kind == "COPY_ON_WRITE"):
            continue
        if dice.random() < 0.3:
            before = table.timeline.commits
            dying = FaultyStorage(table.base_path, dice.randrange(5, 60))
            with suppress(Killed):
                act(HoodieTable(dying, LocalEngine(1), table.clock), operation, rows, options)
            done = len(table.timeline.commits) > len(before)
        else:
            act(table, operation, rows, options)
            done = True
        if done and operation in ("upsert", "insert", "delete"):
            model.write(operation, rows)
        found = sorted((row["id"], row["part"], row["value"]) for row in table.read().to_pylist())
        keys = [name if model.anywhere else name[0] for name in model.rows]
        assert found == sorted((key, *row) for key, row in zip(keys, model.rows.values(), strict=True)), (
            step,
            operation,
        )

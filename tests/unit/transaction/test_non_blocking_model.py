"""Writers of one bucket at random: each key has the row with the greatest ordering value, and changes lead to the same rows."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION
from tests.support.changes import Follower
from tests.support.examples import seeds
from tests.support.history import make_version_8
from tests.support.rivals import QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

KEYS = "abcde"
NON_BLOCKING = {"hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}
BESIDE = {**SMALL_BLOOM, **NON_BLOCKING, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2}
SHORT = {
    "hoodie.keep.min.commits": 3,
    "hoodie.keep.max.commits": 4,
    "hoodie.clean.commits.retained": 2,
    "hoodie.timeline.compaction.batch.size": 2,
}


class History:
    """A table, what it should have, and writers that are at work."""

    def __init__(self, path, seed):
        self.path, self.dice = path, random.Random(seed)
        cdc = {"hoodie.table.cdc.enabled": "true"} if seed % 3 == 1 else {}
        made = create(path, QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ", **cdc})
        if seed % 3 == 0:
            make_version_8(made)
        self.orders = self.dice.sample(range(1000), 200)
        self.rows, self.at_work = {}, []
        self.archived = seed % 2 == 0

    def begin(self):
        keys = self.dice.sample(KEYS, self.dice.randint(1, 3))
        rows = [(key, self.dice.choice("pq"), self.orders.pop(), 0) for key in keys]
        operation = self.dice.choice(["upsert", "upsert", "insert"])
        rival = Rival(
            self.path,
            lambda table: table.write(batch(rows), operation, BESIDE),
            written=self.dice.random() < 0.5,
        ).begin()
        self.at_work.append((rival, rows))

    def finish(self):
        if self.at_work:
            rival, rows = self.at_work.pop(self.dice.randrange(len(self.at_work)))
            assert rival.finish() is None, "no writer loses"
            for key, part, order, value in rows:
                if order > self.rows.get((key, part), (-1, 0))[0]:
                    self.rows[key, part] = order, value

    def plan(self):
        shared(self.path).schedule(COMPACTION, NON_BLOCKING, force=True)

    def compact(self):
        shared(self.path).run(COMPACTION, NON_BLOCKING)

    def clean(self):
        shared(self.path).run(CLEAN, {**NON_BLOCKING, "hoodie.clean.commits.retained": 2})
        if self.archived:
            shared(self.path).run(ARCHIVE, SHORT)

    def check(self):
        found = shared(self.path).read().to_pylist()
        rows = {(row["id"], row["part"]): (row["ts"], row["value"]) for row in found}
        assert len(rows) == len(found), "a key stands more than once"
        assert rows == self.rows


@pytest.mark.histories
@pytest.mark.parametrize("seed", seeds(12, part=12))
def test_each_key_has_its_greatest_row(tmp_path, seed):
    history = History(tmp_path / "t", seed)
    history.begin()
    history.finish()
    follower = Follower(shared(tmp_path / "t"))
    for _ in range(25):
        step = history.dice.choice(["begin"] * 5 + ["finish"] * 4 + ["plan", "compact", "clean"])
        getattr(history, step)()
        history.check()
        follower.follow()
        follower.check()
    while history.at_work:
        history.finish()
        history.check()
        follower.follow()
        follower.check()
    assert len(history.rows) > 3


WRITER = """
import sys
from hoodie import HoodieTable
from tests.unit.transaction.test_non_blocking_model import BESIDE, KEYS
from tests.support.tables import batch
path, writer = sys.argv[1], int(sys.argv[2])
for number in range(4):
    order = (number * 7 + writer * 3) % 11
    rows = [(key, "p", order * 10 + writer, writer) for key in KEYS]
    HoodieTable.open(path).write(batch(rows), "upsert", BESIDE)
"""


@pytest.mark.process
def test_processes_that_write_the_same_keys(tmp_path):
    create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "t"), str(number)], stderr=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    table = shared(tmp_path / "t")
    best = max((number * 7 + writer * 3) % 11 * 10 + writer for number in range(4) for writer in range(2))
    assert content(table) == dict.fromkeys(KEYS, ("p", best, best % 10))
    assert len(table.timeline.commits) == 8
    table.schedule(COMPACTION, NON_BLOCKING, force=True)
    table.run(COMPACTION, NON_BLOCKING)
    assert content(table) == dict.fromkeys(KEYS, ("p", best, best % 10))

"""A consumer, and a change by another process at each of its storage calls: each change is handed out once, or it is an error."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable, Restore, Rollback
from hoodie.errors import ChangeRangeError, LockHeldError
from hoodie.view.committed_files import memory
from tests.support.changes import apply, counted
from tests.support.interrupted import Interrupted, without_helper_threads
from tests.support.matrix import DEEP
from tests.support.rivals import OCC, Rival
from tests.support.tables import batch, create

BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 1}
SHARED = {**OCC, **BUCKETS, "hoodie.write.lock.wait_time_ms": 1}
APPENDING = {**SHARED, "hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}
STEP = 1 if DEEP else 11  # storage calls


def upsert(table):
    table.write(batch([("a", "p", 8, 8), ("c", "p", 8, 8)]), "upsert", APPENDING)


def overwrite(table):
    table.write(batch([("o", "p", 8, 8)]), "insert_overwrite", SHARED)


def drop(table):
    table.delete_partitions(["part=p"], SHARED)


def compact(table):
    table.schedule(COMPACTION, SHARED, force=True)
    table.run(COMPACTION, SHARED)


def clean(table):
    table.run(CLEAN, {**SHARED, "hoodie.clean.commits.retained": 1})


def roll_back(table):
    rollback = Rollback(table.timeline.commits[-1].time)
    table.run(rollback.agreed(table.explain(rollback, SHARED)), SHARED)


def restore(table):
    back = Restore(table.savepoints()[0].instant)
    table.run(back.agreed(table.explain(back, SHARED)), SHARED)


@pytest.fixture(autouse=True)
def in_turn(monkeypatch):
    without_helper_threads(monkeypatch)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table with commits that the consumer has read, and others. Returns its path, and the rows that were read."""
    path = tmp_path_factory.mktemp("made") / "t"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 0, 0), ("b", "p", 0, 0), ("a", "q", 0, 0)]), "upsert", APPENDING)
    table.savepoint()
    early = Rival(path, lambda other: other.write(batch([("b", "p", 3, 3)]), "upsert", APPENDING)).begin()
    table.write(batch([("b", "p", 2, 2), ("d", "q", 2, 2)]), "upsert", APPENDING)
    rows = Counter()
    consumer = table.consumer("c")
    apply(rows, consumer.read().to_pylist())
    consumer.commit()
    assert early.finish() is None, "it began before what the consumer has read, and is read later"
    table.write(batch([("a", "p", 1, 1)]), "delete", APPENDING)
    return path, rows


@pytest.mark.parametrize("other", [upsert, overwrite, drop, compact, clean, roll_back, restore])
def test_a_change_at_each_storage_call_of_a_consumer(tmp_path, made, other):
    source, before = made
    number = 1
    while True:
        path = tmp_path / str(number)
        memory.clear()
        shutil.copytree(source, path)
        storage = Interrupted(path, number, lambda path=path: other(HoodieTable.open(str(path))))
        rows, failed = Counter(before), None
        try:
            consumer = HoodieTable.open(storage).consumer("c")
            apply(rows, consumer.read().to_pylist())
            consumer.commit()
            if storage.calls < number:
                break
            consumer = HoodieTable.open(str(path)).consumer("c")
            apply(rows, consumer.read().to_pylist())
            consumer.commit()
        except (ChangeRangeError, LockHeldError) as error:
            failed = error
        memory.clear()
        if failed is None:
            assert rows == counted(HoodieTable.open(str(path)).read()), (number, storage.log[number - 1])
        else:
            assert other in (roll_back, restore), (number, storage.log[number - 1], failed)
        number += STEP
    assert number > 10

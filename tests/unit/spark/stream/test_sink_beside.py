"""A batch of a stream, and a change by another process at each of its storage calls: one of the two orders, or an error."""

from __future__ import annotations

import shutil

import pytest

from hoodie import CLUSTERING, COMPACTION, HoodieTable, Restore, Rollback
from hoodie.errors import LockHeldError, PendingInstantError, StreamBatchError, WriteConflictError
from hoodie.spark.stream.batch_writer import SinkWrites
from hoodie.spark.stream.sink import StreamSink
from hoodie.view.committed_files import memory
from tests.support.changes import counted
from tests.support.interrupted import Interrupted, without_helper_threads
from tests.support.matrix import DEEP
from tests.support.rivals import OCC
from tests.support.tables import batch, create
from tests.unit.spark.stream.test_sink import Rows, of_query

SHARED = {**OCC, "hoodie.parquet.small.file.limit": 0, "hoodie.write.lock.wait_time_ms": 1}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 1}
APPENDING = {**SHARED, **BUCKETS, "hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}
REPLACING = {**SHARED, **BUCKETS}
STEP = 1 if DEEP else 31  # storage calls
TABLES = {
    "cow": ("COPY_ON_WRITE", SHARED),
    "mor": ("MERGE_ON_READ", SHARED),
    "appending": ("MERGE_ON_READ", APPENDING),
}


def written(path, rows, operation, options):
    HoodieTable.open(str(path)).write(batch(rows), operation, options)


def upsert(path, options):
    written(path, [("a", "p", 8, 8), ("c", "p", 8, 8)], "upsert", options)


def overwrite(path, options):
    written(path, [("o", "p", 8, 8)], "insert_overwrite", REPLACING if options is APPENDING else options)


def drop(path, options):
    HoodieTable.open(str(path)).delete_partitions(["part=p"], REPLACING if options is APPENDING else options)


def cluster(path, options):
    table = HoodieTable.open(str(path))
    table.schedule(CLUSTERING, SHARED, force=True)
    table.run(CLUSTERING, SHARED)


def compact(path, options):
    table = HoodieTable.open(str(path))
    table.schedule(COMPACTION, SHARED, force=True)
    table.run(COMPACTION, SHARED)


def roll_back(path, options):
    """The last commit, which is the batch before, or the batch itself."""
    table = HoodieTable.open(str(path))
    rollback = Rollback(table.timeline.commits[-1].time)
    decision = table.explain(rollback, SHARED)
    table.run(rollback.agreed(decision), SHARED)


def restore(path, options):
    table = HoodieTable.open(str(path))
    back = Restore(table.savepoints()[0].instant)
    table.run(back.agreed(table.explain(back, SHARED)), SHARED)


def same_batch(path, options):
    """Another run of the query, as after a driver that was taken for dead."""
    sink(str(path), options, run="other")


def sink(storage, options, run="r"):
    writer = StreamSink(SinkWrites(storage, "upsert", options), None, 1000)
    writer._write(Rows(("a", "p", 9, 9), ("d", "p", 9, 9), ("d", "q", 9, 9)), of_query(1, run=run))


OTHERS = (upsert, overwrite, drop, cluster, compact, roll_back, restore, same_batch)
IMPOSSIBLE = {("cow", compact), ("appending", cluster)}


@pytest.fixture(autouse=True)
def in_turn(monkeypatch):
    without_helper_threads(monkeypatch)


@pytest.fixture(scope="module", params=TABLES)
def made(request, tmp_path_factory):
    """A table with a savepoint, then an upsert, then batch 0 of the query."""
    path = tmp_path_factory.mktemp("made") / "t"
    kind, options = TABLES[request.param]
    table = create(path, **{"hoodie.table.type": kind})
    table.write(batch([("a", "p", 0, 0), ("b", "p", 0, 0), ("a", "q", 0, 0)]), "insert", options)
    table.savepoint()
    table.write(batch([("b", "p", 1, 1)]), "upsert", options)
    StreamSink(SinkWrites(str(path), "upsert", options), None, 1000)._write(Rows(("a", "p", 2, 2)), of_query(0))
    return request.param, path, options


def copied(source, path):
    memory.clear()
    shutil.copytree(source, path)
    return path


def rows(path):
    memory.clear()
    return counted(HoodieTable.open(str(path)).read())


@pytest.mark.parametrize("other", OTHERS)
def test_a_change_at_each_storage_call_of_a_batch(tmp_path, made, other):
    name, source, options = made
    if (name, other) in IMPOSSIBLE:
        return
    serial = {}
    for order in ("first", "second"):
        path = copied(source, tmp_path / order)
        try:
            for act in (other, sink) if order == "first" else (sink, other):
                act(str(path), options)
        except StreamBatchError as error:
            serial[order] = type(error)
        else:
            serial[order] = rows(path)
    alone = copied(source, tmp_path / "alone")
    sink(str(alone), options)
    number = 1 + OTHERS.index(other) * STEP // len(OTHERS)
    while True:
        path = copied(source, tmp_path / str(number))
        refused, ended = [], []

        def work(path=path, refused=refused):
            try:
                other(path, options)
            except (LockHeldError, PendingInstantError, WriteConflictError, StreamBatchError) as error:
                refused.append(error)

        storage = Interrupted(path, number, work)
        try:
            sink(storage, options)
        except (WriteConflictError, PendingInstantError, StreamBatchError, LockHeldError) as error:
            ended.append(error)
        if storage.calls < number:
            break
        if ended:
            try:
                sink(str(path), options, run="again")
                outcome = rows(path)
            except StreamBatchError as error:
                outcome = type(error)
        else:
            outcome = rows(path)
        expected = [rows(alone)] if refused else list(serial.values())
        assert outcome in expected, (number, storage.log[number - 1], refused, ended, outcome)
        number += STEP
    assert number > 60, "it went on through all calls"

"""The tasks by which Spark reads changes, without Spark: any split of the file groups has all changes."""

from __future__ import annotations

import pickle
from contextlib import nullcontext

import pyarrow as pa
import pytest

from hoodie.changes import ChangeQuery, open_changes
from hoodie.spark.changes import ChangesOfTasks, NetOfKeys, change_tasks
from tests.support.changes import operations, write
from tests.support.clock import FakeClock
from tests.support.tables import create


@pytest.mark.parametrize("count", [1, 2, 50])
def test_tasks_have_all_changes(tmp_path, monkeypatch, count):
    monkeypatch.setattr("hoodie.spark.changes.worker_task", nullcontext)
    table = create(tmp_path / "t", FakeClock())
    write(table, [(f"k{n}", f"p{n % 3}", 1, n) for n in range(9)], "insert")
    start = write(table, [(f"k{n}", f"p{n % 3}", 2, 0) for n in range(6)])
    write(table, [("k1", "p1", 3, 0)], "delete")
    for query in (ChangeQuery(), ChangeQuery(start, filter="value = 0"), ChangeQuery("20300101")):
        stream = open_changes(table.state(), query, table.engine)
        tasks = change_tasks(stream, count)
        assert len(tasks) <= count
        work = pickle.loads(pickle.dumps(ChangesOfTasks(stream.task, tasks)))
        batches = [batch for number in range(len(tasks)) for batch in work.batches([number])]
        found = pa.Table.from_batches(batches).select(stream.schema.names) if batches else stream.schema.empty_table()
        assert sorted(operations(found), key=repr) == sorted(operations(stream.table()), key=repr)


def test_one_change_for_each_row_is_that_of_a_local_read(tmp_path, monkeypatch):
    monkeypatch.setattr("hoodie.spark.changes.worker_task", nullcontext)
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 20)])
    stream = open_changes(table.state(), ChangeQuery(columns=["value"], filter="value > 5", net=True), table.engine)
    work = ChangesOfTasks(stream.task, change_tasks(stream, 1))
    net = pickle.loads(pickle.dumps(NetOfKeys(stream.net)))
    by_key = pa.Table.from_batches(work.batches([0])).sort_by(
        [("_hoodie_record_key", "ascending"), ("_hoodie_completion_time", "ascending")]
    )
    found = pa.Table.from_batches(net(iter(by_key.to_batches()))).select(stream.schema.names)
    assert operations(found) == operations(stream.table()) == [("i", "a", None, 20)]

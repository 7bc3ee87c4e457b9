"""The sink, killed at its calls of the storage and started again, without Spark's session."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from random import Random
from unittest.mock import MagicMock

import pytest
from pyspark.errors import PySparkException

from hoodie import Restore, Rollback
from hoodie.errors import StreamBatchError
from hoodie.spark.stream import sink as sink_module
from hoodie.spark.stream.batch_file import BatchFile
from hoodie.spark.stream.batch_writer import SinkWrites
from hoodie.spark.stream.batches import StreamBatch
from hoodie.spark.stream.sink import StreamSink
from hoodie.table import HoodieTable
from hoodie.view.committed_files import memory
from hoodie.write.change_rows import ChangeColumns
from tests.support.changes import counted, write
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create


class Rows:
    """A batch of a stream, as the sink uses it."""

    _jdf = MagicMock()  # Spark's statistics
    _jdf.queryExecution.return_value.optimizedPlan.return_value.stats.return_value.sizeInBytes.return_value = 0

    def __init__(self, *rows):
        self._rows = batch(rows)

    def persist(self):
        return self

    unpersist = persist

    def limit(self, count):
        return Rows.of(self._rows.slice(0, count))

    @staticmethod
    def of(table):
        rows = Rows()
        rows._rows = table
        return rows

    def toArrow(self):
        return self._rows

    @property
    def write(self):
        """The writer that computes all rows."""
        return self

    def format(self, name):
        return self

    mode = format

    def save(self):
        pass


def sink(storage, operation="insert", **more):
    return StreamSink(SinkWrites(storage, operation, SMALL_BLOOM, **more), None, 1000)


def of_query(number, query="q", run="r"):
    return StreamBatch(query, number, run)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_batch_whose_writer_is_killed_anywhere_is_there_once(tmp_path, kind):
    """Inserts keep rows of one key side by side: a batch that was written twice would show."""
    rows, more = Rows(("a", "p", 1, 1), ("b", "q", 1, 1)), Rows(("a", "p", 2, 2))
    for number in count(1, 4):
        path = str(tmp_path / str(number))
        create(path, **{"hoodie.table.type": kind})
        dying = sink(FaultyStorage(path, number))
        try:
            dying._write(rows, of_query(0))
            ended = True
        except Killed:
            ended = False
        restarted = sink(path)
        restarted._write(rows, of_query(0))
        restarted._write(more, of_query(1))
        table = HoodieTable.open(path)
        values = sorted(zip(table.read()["id"].to_pylist(), table.read()["value"].to_pylist(), strict=True))
        assert values == [("a", 1), ("a", 2), ("b", 1)], number
        if ended:
            break
    assert number > 20, "it died at some calls"


FEED = ChangeColumns()


def test_changes_of_a_table_make_the_same_table(tmp_path):
    """At every commit, with batches of one commit and of several: rows move, are deleted and come back, with lower values too."""
    source, one, several = (
        create(
            tmp_path / name,
            **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"},
        )
        for name in ("s", "one", "several")
    )
    sinks = [sink(table.base_path, "upsert", changes=FEED) for table in (one, several)]
    random, since = Random(7), [None, None]
    for number in range(8):
        keys = random.sample("abcdefgh", 3)
        rows = [(key, random.choice("pq"), random.randrange(9), number) for key in keys]
        write(source, rows, "upsert" if number % 3 else "delete", **{"hoodie.index.type": "GLOBAL_SIMPLE"})
        for place, table in enumerate((one, several)):
            if place == 0 or number % 4 == 3:
                changes = source.read_changes(since[place])
                sinks[place]._write(Rows.of(changes), of_query(number))
                since[place] = max([since[place] or "", *changes["_hoodie_completion_time"].to_pylist()]) or None
                assert counted(table.read()) == counted(source.read()), (number, place)
    assert source.read().num_rows > 2


def test_a_batch_of_changes_whose_writer_is_killed_is_applied_once(tmp_path):
    source = create(tmp_path / "s")
    write(source, [("a", "p", 1, 1), ("b", "p", 1, 1)])
    write(source, [("a", "p", 2, 2)])
    write(source, [("b", "p", 2, 2)], "delete")
    changes = Rows.of(source.read_changes())
    for number in count(1, 9):
        path = str(tmp_path / str(number))
        create(path)
        try:
            sink(FaultyStorage(path, number), "upsert", changes=FEED)._write(changes, of_query(0))
            ended = True
        except Killed:
            ended = False
        sink(path, "upsert", changes=FEED)._write(changes, of_query(0))
        table = HoodieTable.open(path)
        assert content(table) == {"a": ("p", 2, 2)}, number
        assert len(table.timeline.commits) == 1
        if ended:
            break


def test_queries_that_share_a_sink_have_batches_of_their_own(tmp_path):
    table = create(tmp_path / "t")
    shared = sink(table.base_path)
    for number in range(2):
        for query in ("one", "other"):
            shared._write(Rows((query, "p", number, number)), of_query(number, query))
    assert table.read().num_rows == 4


def test_batches_that_were_taken_back_are_noticed(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    running = sink(table.base_path)
    running._write(Rows(("a", "p", 0, 0)), of_query(0))
    table.savepoint()
    for number in (1, 2):
        running._write(Rows(("a", "p", number, number)), of_query(number))
    table.run(Rollback(table.timeline.commits[-1].time))
    with pytest.raises(StreamBatchError, match=r"no commit .* which had batch 2"):
        running._write(Rows(("a", "p", 3, 3)), of_query(3))
    table.run(Restore(table.timeline.commits[0].time))
    with pytest.raises(StreamBatchError, match=r"no commit .* which had batch 2"):
        sink(table.base_path)._write(Rows(("a", "p", 3, 3)), of_query(3, run="s"))
    sink(table.base_path)._write(Rows(("a", "p", 1, 1)), of_query(1, run="s"))  # from a copy of the checkpoint
    assert table.read()["value"].to_pylist() == [0, 1]


@pytest.mark.parametrize("how", ["rollback", "archived restore", "killed before the file", "all"])
def test_batches_that_were_taken_back_while_the_query_was_stopped_are_noticed(tmp_path, how, monkeypatch):
    table = create(tmp_path / "t", FakeClock())
    first = sink(table.base_path)
    first._write(Rows(("a", "p", 0, 0)), of_query(0))
    table.savepoint()
    if how == "killed before the file":
        with monkeypatch.context() as patch:
            patch.setattr(BatchFile, "store", lambda *_: None)
            first._write(Rows(("a", "p", 1, 1)), of_query(1))
        sink(table.base_path)._write(Rows(("a", "p", 1, 1)), of_query(1))  # it is there
    else:
        first._write(Rows(("a", "p", 1, 1)), of_query(1))
    if how == "archived restore":
        table.run(Restore(table.timeline.commits[0].time))
        write(table, [("b", "p", 1, 1)])
        memory.clear()
        (restore,) = (tmp_path / "t/.hoodie/timeline").glob("*_*.restore")
        for file in (tmp_path / "t/.hoodie/timeline").glob(f"{restore.name[:17]}*"):
            file.unlink()
    else:
        table.run(Rollback(table.timeline.commits[-1].time))
    if how == "all":
        table.delete_savepoint(table.savepoints()[0].instant)
        table.run(Rollback(table.timeline.commits[-1].time))
    with pytest.raises(StreamBatchError, match=r"no commit .* which had batch 1"):
        sink(table.base_path)._write(Rows(("a", "p", 3, 3)), of_query(2, run="s"))
    with pytest.raises(StreamBatchError, match=r"no commit .* which had batch 1"):  # it had no rows
        sink(table.base_path)._write(Rows(("a", "p", 3, 3)), of_query(3, run="s"))
    goes_on = replace(of_query(3, run="t"), after_restore=True)
    sink(table.base_path)._write(Rows(("a", "p", 3, 3)), goes_on)
    sink(table.base_path)._write(Rows(("c", "p", 5, 5)), of_query(5, run="u"))
    assert {3, 5} <= set(table.read()["value"].to_pylist())


def test_batches_without_rows_are_not_missed(tmp_path):
    """Not after a rollback of another writer's commit either, nor from an old copy of the checkpoint."""
    table = create(tmp_path / "t", FakeClock())
    sink(table.base_path)._write(Rows(("a", "p", 1, 1)), of_query(1))
    write(table, [("b", "p", 1, 1)])
    table.run(Rollback(table.timeline.commits[-1].time))
    sink(table.base_path)._write(Rows(("a", "p", 3, 3)), of_query(3, run="s"))
    table.run(Rollback(table.timeline.commits[-1].time))
    sink(table.base_path)._write(Rows(("a", "p", 3, 3)), of_query(3, run="t"))
    assert table.read()["value"].to_pylist() == [1, 3]


def test_two_calls_for_one_batch_are_noticed(tmp_path):
    """The second one would find the batch of the first, and leave its rows out. A run that starts again is no second call."""
    table = create(tmp_path / "t")
    one, other = sink(table.base_path), sink(table.base_path)
    rows, more = Rows(("a", "p", 1, 1)), Rows(("b", "p", 1, 1))
    one._write(rows, of_query(0), "run 1")
    for second in (one, other):
        with pytest.raises(StreamBatchError, match="written twice"):
            second._write(more, of_query(0), "run 1")
        assert second._write(rows, of_query(0), "run 2") is None, "Spark sends it again"
    other._write(more, of_query(0, "named"), "run 1")
    assert table.read().num_rows == 2


def test_rows_are_collected_once_unless_they_are_too_many(monkeypatch):
    """By their number, and by the bytes that the driver takes of the results of tasks. Spark's guess of bytes does not count:
    for a join of two streams it is the product of both."""
    rows = Rows(("a", "p", 1, 1), ("b", "p", 1, 1))
    assert sink_module._collected(rows, 2).num_rows == 2
    assert sink_module._collected(rows, 1) is None

    def fails(text):
        def collect(_):
            raise PySparkException(text)

        return collect

    monkeypatch.setattr(
        Rows, "toArrow", fails("Total size of serialized results is bigger than spark.driver.maxResultSize (1g)")
    )
    assert sink_module._collected(rows, 2) is None
    monkeypatch.setattr(Rows, "toArrow", fails("a task failed"))
    with pytest.raises(PySparkException, match="a task failed"):
        sink_module._collected(rows, 2)

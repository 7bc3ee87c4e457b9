"""The sink, killed at its calls of the storage and started again, without Spark's session."""

from __future__ import annotations

from itertools import count

import pytest

from hoodie import Restore, Rollback
from hoodie.errors import StreamBatchError
from hoodie.spark.stream.sink import StreamSink
from hoodie.table import HoodieTable
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, create


class Rows:
    """A batch of a stream, as the sink uses it."""

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


def sink(storage):
    return StreamSink(storage, "insert", SMALL_BLOOM, None, None, 100)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_batch_whose_writer_is_killed_anywhere_is_there_once(tmp_path, kind):
    """Inserts keep rows of one key side by side: a batch that was written twice would show."""
    rows, more = Rows(("a", "p", 1, 1), ("b", "q", 1, 1)), Rows(("a", "p", 2, 2))
    for number in count(1, 4):
        path = str(tmp_path / str(number))
        create(path, **{"hoodie.table.type": kind})
        dying = sink(FaultyStorage(path, number))
        try:
            dying._write(rows, 0, "q")
            ended = True
        except Killed:
            ended = False
        restarted = sink(path)
        restarted._write(rows, 0, "q")
        restarted._write(more, 1, "q")
        table = HoodieTable.open(path)
        values = sorted(zip(table.read()["id"].to_pylist(), table.read()["value"].to_pylist(), strict=True))
        assert values == [("a", 1), ("a", 2), ("b", 1)], number
        if ended:
            break
    assert number > 20, "it died at some calls"


def test_queries_that_share_a_sink_have_batches_of_their_own(tmp_path):
    table = create(tmp_path / "t")
    shared = sink(table.base_path)
    for number in range(2):
        for query in ("one", "other"):
            shared._write(Rows((query, "p", number, number)), number, query)
    assert table.read().num_rows == 4


def test_batches_that_were_taken_back_are_noticed(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    running = sink(table.base_path)
    running._write(Rows(("a", "p", 0, 0)), 0, "q")
    table.savepoint()
    for number in (1, 2):
        running._write(Rows(("a", "p", number, number)), number, "q")
    table.run(Rollback(table.timeline.commits[-1].time))
    with pytest.raises(StreamBatchError, match=r"no commit .* which had batch 2"):
        running._write(Rows(("a", "p", 3, 3)), 3, "q")
    table.run(Restore(table.timeline.commits[0].time))
    with pytest.raises(StreamBatchError, match=r"batch 0 .* as the last one, and .* restore"):
        sink(table.base_path)._write(Rows(("a", "p", 3, 3)), 3, "q")
    sink(table.base_path)._write(Rows(("a", "p", 1, 1)), 1, "q")  # from a copy of the checkpoint
    assert table.read()["value"].to_pylist() == [0, 1]

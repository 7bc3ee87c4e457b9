"""The sink, killed at its calls of the storage and started again, without Spark's session."""

from __future__ import annotations

from itertools import count

import pytest

from hoodie.spark.stream.sink import StreamSink
from hoodie.table import HoodieTable
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

"""Tasks that go on after their write was rolled back leave nothing behind."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError
from hoodie.storage import walk_files
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


class Outliving(LocalEngine):
    """Fails the tasks that write files, and can run them later: as a cluster does whose driver gave up."""

    def __init__(self):
        super().__init__(1)
        self.late = []

    def map_input(self, function, rows):
        self.late.append(lambda: LocalEngine.map_input(self, function, rows))
        raise ZeroDivisionError("another task of the write failed")

    def exchange_inputs(self, inputs, count):
        return _Buckets(super().exchange_inputs(inputs, count), self.late)


class _Buckets:
    def __init__(self, held, late):
        self._held, self._late, self.count = held, late, held.count

    def map(self, function):
        if type(function).__name__ != "WriteFiles":
            return self._held.map(function)
        self._late.append(lambda: self._held.map(function))
        raise ZeroDivisionError("another task of the write failed")

    def exchange(self, function, count):
        return _Buckets(self._held.exchange(function, count), self._late)


def data_files(table):
    return sorted(file.path for file in walk_files(table.storage, "") if not file.path.startswith(".hoodie/"))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("operation", ["bulk_insert", "insert", "upsert"])
def test_what_a_late_task_finishes_is_taken_away(tmp_path, kind, version, operation):
    options = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    if operation == "upsert":
        table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    before, rows = data_files(table), content(table)
    engine = Outliving()
    failing = HoodieTable(table.storage, engine, table.clock)
    if operation != "bulk_insert":  # the survey of the keys is no part of what fails
        engine.map_input = lambda function, rows: LocalEngine.map_input(engine, function, rows)
    with pytest.raises(ZeroDivisionError):
        failing.write(batch([("a", "p", 2, 2)]), operation, SMALL_BLOOM)
    assert engine.late
    for task in engine.late:
        with pytest.raises(PendingInstantError, match="finished too late"):
            task()
    kept = [path for path in data_files(table) if not path.endswith(".hoodie_partition_metadata")]
    assert kept == [path for path in before if not path.endswith(".hoodie_partition_metadata")]
    assert content(table) == rows
    table.write(batch([("b", "q", 3, 3)]), "insert", SMALL_BLOOM)
    assert content(table) == {**rows, "b": ("q", 3, 3)}

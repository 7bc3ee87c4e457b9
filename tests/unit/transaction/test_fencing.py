"""Tasks that go on after their write was rolled back leave nothing behind."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import pytest

from hoodie import COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError, StorageError
from hoodie.services.rewrite.slice_task import SliceTask
from hoodie.storage import LocalStorage, walk_files
from hoodie.write.worker.bulk import BulkInsert
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

    def map_rows(self, function):
        results, made = self._held.map_rows(function)
        return results, type(self)(made, self._late)

    def exchange(self, function, count, sizes=()):
        return _Buckets(self._held.exchange(function, count, sizes), self._late)


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


@pytest.mark.parametrize("rolled_back", [True, False])
def test_a_task_whose_unfinished_file_is_deleted_is_told_why(tmp_path, rolled_back):
    class Swept(LocalStorage):
        @contextmanager
        def open_output(self, path):
            with super().open_output(path) as sink:
                yield sink
                inflight = [
                    file.path for file in self.list(".hoodie/timeline").files if file.name.endswith(".inflight")
                ]
                for name in inflight if rolled_back else []:
                    self.delete(name)
                self.delete(path)  # what was to become it goes

    table = create(tmp_path / "t", FakeClock())
    sweeping = HoodieTable(Swept(str(tmp_path / "t")), LocalEngine(1), table.clock)
    expected = (
        (PendingInstantError, "rolled back during the run") if rolled_back else (StorageError, "FileNotFoundError")
    )
    with pytest.raises(expected[0], match=expected[1]):
        sweeping.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    assert content(table) == {}


class Repeating(LocalEngine):
    """Runs a task, and can run it once more, as a cluster does with an attempt that it believed lost."""

    def __init__(self):
        super().__init__(1)
        self.late = []
        self._attempts = itertools.count()

    @property
    def write_token(self):
        return lambda task: f"{task}-0-{next(self._attempts)}"

    def map(self, function, tasks, sizes=()):
        if isinstance(function, SliceTask):
            self.late.append(lambda: LocalEngine.map(self, function, tasks, sizes))
        return super().map(function, tasks, sizes)

    def map_input(self, function, rows):
        if isinstance(function, BulkInsert):
            self.late.append(lambda: LocalEngine.map_input(self, function, rows))
        return super().map_input(function, rows)

    def exchange_inputs(self, inputs, count):
        return _Repeated(super().exchange_inputs(inputs, count), self.late)


class _Repeated(_Buckets):
    def map(self, function):
        if type(function).__name__ == "WriteFiles":
            self._late.append(lambda: self._held.map(function))
        return self._held.map(function)

    def exchange(self, function, count, sizes=()):
        return _Repeated(self._held.exchange(function, count, sizes), self._late)


class BeforeCompletion(LocalStorage):
    """Runs something just before an instant is completed."""

    step = None

    def create(self, path, data):
        name = path.rpartition("/")[2]
        if self.step is not None and name.endswith(("commit", "deltacommit")):
            step, self.step = self.step, None
            step()
        super().create(path, data)


# Our log compactions are of version 8 and later.
SERVICES = [*itertools.product(["bulk_insert", "insert", "upsert", "compact"], ["9", "6"]), ("log_compact", "9")]


@pytest.mark.parametrize(("service", "version"), SERVICES)
@pytest.mark.parametrize("moment", ["before the commit", "after the commit"])
def test_what_is_done_twice_is_there_once(tmp_path, version, service, moment):
    storage, engine = BeforeCompletion(str(tmp_path / "t")), Repeating()
    kind = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(storage, FakeClock(), engine, **kind)
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", options)
    for ts in (2, 3):
        table.write(batch([("a", "p", ts, ts)]), "upsert", options)
    rows = content(table)
    if service == "compact":
        table.schedule(COMPACTION, force=True)
    elif service == "log_compact":
        assert table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
    engine.late.clear()
    if moment == "before the commit":
        storage.step = lambda: [task() for task in engine.late]
    if "compact" in service:
        assert len(table.run(COMPACTION if service == "compact" else LOG_COMPACTION)) == 1
    else:
        key = "a" if service == "upsert" else "d"  # the others look for no older row
        table.write(batch([(key, "p", 4, 4), ("c", "q", 4, 4)]), service, options)
        rows |= {key: ("p", 4, 4), "c": ("q", 4, 4)}
    assert storage.step is None
    assert engine.late
    after = data_files(table)
    if moment == "after the commit":
        for task in engine.late:
            with pytest.raises(PendingInstantError, match="finished too late"):
                task()
    assert [path for path in data_files(table) if not path.endswith(".hoodie_partition_metadata")] == [
        path for path in after if not path.endswith(".hoodie_partition_metadata")
    ]
    assert content(table) == rows
    times = [instant.time for instant in table.timeline.commits]
    named = {stat.path for instant in table.timeline.commits for stat in table.state().commit_metadata(instant).stats}
    assert {path for path in after if times[-1] in path} <= named

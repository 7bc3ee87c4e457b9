"""Savepoints and restores that are killed at any storage call: there is one or there is none, and the next change finishes it."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, Restore, Rollback
from hoodie.storage import LocalStorage, walk_files
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure, uncommitted
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def prepared(path, version, table_type):
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), "insert", LOGS)
    table.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    return table


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", False), ("6", "kill", True), ("6", "full", False)])
def test_a_savepoint_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        prepared(path, version, "MERGE_ON_READ")

    for storage, clock, call in run_to_failure(tmp_path, prepare, lambda table: table.savepoint(), kind, half):
        table = reopen(storage, clock)
        rows, last = content(table), table.timeline.commits[-1].time
        if not table.savepoints():
            table.savepoint(last)
        assert [each.instant for each in table.savepoints()] == [last], call
        table.write(batch([("d", "p", 3, 3)]), "upsert", LOGS)
        table.run(Restore(last))
        assert content(table) == rows, call
        table.delete_savepoint(last)
        assert not [i for i in table.timeline if i.action is Action.SAVEPOINT], call


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", False), ("6", "kill", True), ("9", "full", False)])
def test_deleting_a_savepoint_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        prepared(path, version, "COPY_ON_WRITE").savepoint()

    def delete(table):
        table.delete_savepoint(table.timeline.commits[-1].time)

    for storage, clock, call in run_to_failure(tmp_path, prepare, delete, kind, half, few=5):
        table = reopen(storage, clock)
        last = table.timeline.commits[-1].time
        if table.savepoints():
            table.delete_savepoint(last)
        assert table.savepoints() == [], call
        table.savepoint(last)
        assert len(table.savepoints()) == 1, call


@pytest.mark.parametrize(
    ("version", "table_type", "kind", "half"),
    sample(
        [
            ("9", "COPY_ON_WRITE", "kill", False),
            ("6", "COPY_ON_WRITE", "full", False),
            ("9", "MERGE_ON_READ", "kill", True),
            ("6", "MERGE_ON_READ", "kill", False),
        ],
        *(1, 2),
    ),
)
def test_a_restore_that_dies_at_any_call(tmp_path, version, table_type, kind, half):
    """Over an upsert, a compaction that is complete, a deletion, and a write that has failed."""

    def prepare(path):
        table = prepared(path, version, table_type)
        table.savepoint()
        table.write(batch([("a", "p", 3, 3), ("d", "r", 3, 3)]), "upsert", LOGS)
        if table_type == "MERGE_ON_READ":
            table.schedule(COMPACTION, force=True)
            table.write(batch([("a", "p", 4, 4)]), "upsert", LOGS)
            table.run(COMPACTION, SMALL_BLOOM)
        table.write(batch([("c", "q", 5, 5)]), "delete", LOGS)

    prepare(tmp_path / "before")
    before = reopen(LocalStorage(str(tmp_path / "before")), FakeClock())
    saved, now = before.savepoints()[0], content(before)
    restored = content(before, as_of=saved.instant)

    completed = 0
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.run(Restore(saved.instant)), kind, half
    ):
        table = reopen(storage, clock)
        rows = content(table)
        assert rows in (now, restored), call
        completed += rows == restored
        if rows == now:
            table.run(Restore(saved.instant))
            assert content(table) == restored, call
        table.write(batch([("e", "p", 6, 6)]), "upsert", LOGS)
        assert content(table) == {**restored, "e": ("p", 6, 6)}, call
        table.run(Restore(saved.instant))
        assert content(table) == restored, call
        assert uncommitted(table) == [], call
        assert table.timeline.pending == (), call
        assert not table.timeline.completed(Action.ROLLBACK), call
        left = {file.path for file in walk_files(storage, "")}
        assert set(table.savepoints()[0].paths) <= left, call
    assert completed, "no crash after the restore had begun was tried"


@pytest.mark.parametrize(("version", "kind", "half"), [("9", "kill", False), ("6", "kill", True), ("6", "full", False)])
def test_a_rollback_of_the_last_commit_that_dies_at_any_call(tmp_path, version, kind, half):
    def prepare(path):
        prepared(path, version, "MERGE_ON_READ")

    prepare(tmp_path / "before")
    before = reopen(LocalStorage(str(tmp_path / "before")), FakeClock())
    last, now = before.timeline.commits[-1].time, content(before)
    undone = content(before, as_of=before.timeline.commits[0].time)
    for storage, clock, call in run_to_failure(tmp_path, prepare, lambda table: table.run(Rollback(last)), kind, half):
        table = reopen(storage, clock)
        rows = content(table)
        assert rows in (now, undone), call
        table.write(batch([("e", "p", 6, 6)]), "upsert", LOGS)
        assert content(table) in ({**undone, "e": ("p", 6, 6)}, {**now, "e": ("p", 6, 6)}), call
        assert rows == now or content(table)["a"] == undone["a"], call
        assert uncommitted(table) == [], call
        assert table.timeline.pending == (), call

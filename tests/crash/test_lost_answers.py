"""The call happened, the caller saw an error: what is acknowledged is there once, what failed is there whole or not at all."""

from __future__ import annotations

from itertools import product

import pytest

from hoodie import CLEAN, COMPACTION
from hoodie.errors import UnclearCommitError
from hoodie.model.rollback import RollbackPlan
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.timeline.codecs.rollback import encode_rollback_plan
from hoodie.transaction import instants
from tests.support.clock import FakeClock
from tests.support.crashes import FIRST, RETAIN_ONE, SECOND, failures, reopen, uncommitted
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

OPTIONS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


ONE, OTHER = "20260110000000000", "20260111000000000"
# Each way to lose an answer is tried on one table version: the calls are the same in both.
KINDS = [("9", "lost"), ("6", "retried"), ("6", "deaf")]
WRITES = [
    ("COPY_ON_WRITE", "upsert"),
    ("MERGE_ON_READ", "upsert"),
    ("COPY_ON_WRITE", "insert"),
    ("COPY_ON_WRITE", "bulk_insert"),
    ("COPY_ON_WRITE", "switch"),
    ("MERGE_ON_READ", "insert"),
]
# Each way to lose an answer meets an upsert: of either table type, and one that changes hoodie.properties.
OF_WRITES = sample([(*write, *kind) for write, kind in product(WRITES, KINDS)], 0, 5, 13)


def attempts(tmp_path, prepare, action, kind):
    """Run `action` on tables that are alike, with an answer lost at the first call, the second …, until there are no more.

    Yields (storage, clock, error or None, call) for each.
    """
    prepare(tmp_path / "origin")
    for storage, clock, error in failures(
        tmp_path / "origin", lambda storage, clock: action(reopen(storage, clock)), kind
    ):
        call = f"{storage.fail_at} {storage.log[storage.fail_at - 1]}: {error!r}"
        yield LocalStorage(storage.base_path), clock, error, call


def settled(table, call):
    """After one more write nothing is pending, nothing is left, no process holds the lock."""
    table.write(batch([("z", "p", 9, 9)]), "upsert", OPTIONS)
    assert table.timeline.pending == (), call
    assert uncommitted(table) == [], call
    assert table.storage.info(".hoodie/lock") is None, call
    assert table.storage.info(".hoodie/hoodie.properties.backup") is None, call


@pytest.mark.parametrize(("table_type", "operation", "version", "kind"), OF_WRITES)
def test_a_write(tmp_path, version, table_type, operation, kind):
    """Rows that were not there before: to write them twice shows."""
    options = OPTIONS
    if operation == "switch":  # an upsert that changes hoodie.properties
        operation, options = "upsert", {**OPTIONS, "hoodie.populate.meta.fields": "false"}
    rows = SECOND if operation == "upsert" else SECOND.filter([False, True, True])

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
        table.write(FIRST, "insert", OPTIONS)

    prepare(tmp_path / "before")
    done = reopen(LocalStorage(str(tmp_path / "before")), FakeClock(FakeClock().time.replace(month=2)))
    before = content(done)
    done.write(rows, operation, options)
    after = content(done)
    acknowledged = unclear = 0
    for storage, clock, error, call in attempts(tmp_path, prepare, lambda t: t.write(rows, operation, options), kind):
        table = reopen(storage, clock)
        now = content(table)  # fails when a key is there twice
        if error is None:
            assert now == after, call
            acknowledged += 1
        elif isinstance(error, UnclearCommitError):
            assert now in (before, after), call
            assert "show commits" in str(error)
            unclear += 1
        else:
            assert now == before, call
            assert "show commits" not in str(error), call
        if error is not None and now == before:
            table.write(rows, operation, options)
        assert content(table) == after, call
        settled(table, call)
    assert acknowledged >= 3, "the answers of the completion, of markers and of the lock are looked up"
    assert bool(unclear) == (kind == "deaf")


@pytest.mark.parametrize(("version", "kind"), sample(KINDS, 0))
def test_a_clean(tmp_path, version, kind):
    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
        for step in range(4):
            table.write(batch([("a", "p", step, step), ("c", "q", step, step)]), "upsert", SMALL_BLOOM)

    for storage, clock, error, call in attempts(tmp_path, prepare, lambda table: table.run(CLEAN, RETAIN_ONE), kind):
        table = reopen(storage, clock)
        assert content(table) == {"a": ("p", 3, 3), "c": ("q", 3, 3)}, call
        cleans = [instant for instant in table.timeline if instant.action == Action.CLEAN]
        assert error is not None or [clean.is_completed for clean in cleans] == [True], call
        table.run(CLEAN, RETAIN_ONE)
        assert len(table.file_slices()) == 2
        settled(table, call)
        assert content(table) == {"a": ("p", 3, 3), "c": ("q", 3, 3), "z": ("p", 9, 9)}, call


@pytest.mark.parametrize(("version", "kind"), sample(KINDS, 1))
def test_a_compaction(tmp_path, version, kind):
    properties = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}

    def prepare(path):
        table = create(path, FakeClock(), **properties)
        table.write(FIRST, "insert", OPTIONS)
        table.write(batch([("a", "p", 2, 2), ("c", "q", 2, 2)]), "upsert", OPTIONS)

    def compact(table):
        if not [instant for instant in table.timeline.pending if instant.action == "compaction"]:
            table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)

    for storage, clock, error, call in attempts(tmp_path, prepare, compact, kind):
        table = reopen(storage, clock)
        expected = {"a": ("p", 2, 2), "b": ("p", 1, 1), "c": ("q", 2, 2)}
        assert content(table) == expected, call
        done = any(instant.action == "commit" for instant in table.timeline.commits)
        assert done or error is not None, call
        if not done:
            compact(table)
        assert content(table) == expected, call
        settled(table, call)
        assert content(table) == {**expected, "z": ("p", 9, 9)}, call


@pytest.mark.parametrize(("version", "kind"), sample(KINDS, 2))
def test_a_rollback(tmp_path, version, kind):
    """The next write first rolls back a write that failed, and finishes a rollback that Hudi began."""

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version})
        table.write(FIRST, "insert", OPTIONS)
        state = table.state()
        files = {time: f"part=p/11111111-1111-1111-1111-111111111111-0_0-0-0_{time}.parquet" for time in (ONE, OTHER)}
        for time, name in files.items():
            instants.start(state, instants.request(state, time, Action.COMMIT))
            table.storage.create(f".hoodie/.temp/{time}/{name}.marker.CREATE", b"")
            table.storage.create(name, b"half")
        body = encode_rollback_plan(RollbackPlan(ONE, "commit", {"part=p": (files[ONE],)}), str(tmp_path / "run"))
        instants.request(state, "20260112000000000", Action.ROLLBACK, body)

    after = {"a": ("p", 2, 2), "b": ("p", 1, 1), "c": ("q", 1, 1), "d": ("p", 2, 2), "e": ("r", 2, 2)}
    for storage, clock, error, call in attempts(tmp_path, prepare, lambda t: t.write(SECOND, "upsert", OPTIONS), kind):
        table = reopen(storage, clock)
        now = content(table)
        assert now == after if error is None else now.keys() in ({"a", "b", "c"}, after.keys()), call
        table.write(SECOND, "upsert", OPTIONS)
        assert content(table) == after, call
        settled(table, call)

"""`non_blocking_concurrency_control`: several writers append logs to one bucket at once, and none of them loses."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, Rollback
from hoodie.errors import WriteConflictError
from hoodie.index.buckets import fixed_file_id
from hoodie.write.execute import WriteHooks
from tests.support.history import make_version_8
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create
from tests.unit.transaction.test_optimistic import at_rest

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2}
MODE = "hoodie.write.concurrency.mode"
NON_BLOCKING = {MODE: "non_blocking_concurrency_control"}
BESIDE = {**SMALL_BLOOM, **BUCKET, **NON_BLOCKING}
ALONE = {**OCC, **BUCKET}
MOR = {"hoodie.table.type": "MERGE_ON_READ"}


@pytest.fixture(params=["8", "9"])
def path(request, tmp_path):
    made = create(tmp_path / "t", QuickClock(), **MOR)
    if request.param == "8":
        make_version_8(made)
    return tmp_path / "t"


def write(rows, operation="upsert", options=BESIDE):
    return lambda table: table.write(batch(rows), operation, options)


def groups(table):
    state = table.state()
    return {stat.group for each in state.timeline.commits for stat in state.commit_metadata(each).stats}


@pytest.mark.parametrize("late_wins", [False, True])
def test_two_first_writes_of_one_bucket_share_its_file_group(path, late_wins):
    one = Rival(path, write([("a", "p", 2, 2), ("b", "p", 9, 2)])).begin()
    two = Rival(path, write([("a", "p", 3, 3), ("b", "p", 1, 3), ("c", "p", 1, 3)])).begin()
    for rival in (two, one) if late_wins else (one, two):
        assert rival.finish() is None
    table = shared(path)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 9, 2), "c": ("p", 1, 3)}
    assert {group.file_id for group in groups(table)} <= {fixed_file_id(bucket) for bucket in range(2)}
    at_rest(table)


@pytest.mark.parametrize("operation", ["upsert", "insert", "delete"])
def test_a_compaction_takes_what_was_complete_and_no_more(path, operation):
    """Two writers are at work when it is planned; one is done before it is carried out, one after it."""
    shared(path).write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", BESIDE)
    early = Rival(path, write([("a", "p", 5, 5)])).begin()
    late = Rival(path, write([("b", "p", 7, 7), ("c", "p", 7, 7)], operation)).begin()
    shared(path).schedule(COMPACTION, NON_BLOCKING, force=True)
    assert early.finish() is None
    before = content(shared(path))
    shared(path).run(COMPACTION, NON_BLOCKING)
    assert content(shared(path)) == before == {"a": ("p", 5, 5), "b": ("p", 1, 1)}
    assert late.finish() is None
    expected = {"a": ("p", 5, 5), "b": ("p", 7, 7), "c": ("p", 7, 7)}
    if operation == "delete":
        del expected["b"], expected["c"]
    assert content(shared(path)) == expected
    shared(path).schedule(COMPACTION, NON_BLOCKING, force=True)
    shared(path).run(COMPACTION, NON_BLOCKING)
    shared(path).run(CLEAN, {**NON_BLOCKING, "hoodie.clean.commits.retained": 1})
    assert content(shared(path)) == expected
    at_rest(shared(path))


def test_of_two_writers_one_is_rolled_back(path):
    """Also in a partition that both begin: what the other writes there stays."""
    good = Rival(path, write([("a", "p", 1, 1), ("x", "q", 1, 1)]), written=True).begin()

    def fails(table):
        def raises():
            raise RuntimeError("the source is gone")

        table.write(
            batch([("a", "p", 9, 9), ("y", "r", 9, 9)]), "upsert", BESIDE, hooks=WriteHooks(before_commit=raises)
        )

    bad = Rival(path, fails).begin()
    assert isinstance(bad.finish(), RuntimeError)
    assert good.finish() is None
    assert content(shared(path)) == {"a": ("p", 1, 1), "x": ("q", 1, 1)}
    last = shared(path).timeline.commits[-1].time
    other = Rival(path, write([("z", "p", 2, 2)])).begin()
    rollback = Rollback(last)
    table = shared(path)
    table.run(rollback.agreed(table.explain(rollback, NON_BLOCKING)), NON_BLOCKING)
    assert isinstance(other.finish(), WriteConflictError)
    assert content(shared(path)) == {}
    at_rest(shared(path))


@pytest.mark.parametrize("operation", ["insert_overwrite", "insert_overwrite_table", "delete_partition"])
@pytest.mark.parametrize("replaced_first", [False, True])
def test_what_replaces_a_partition_and_a_writer_never_both_stand(path, operation, replaced_first):
    """Hudi 1.2.0 loses the rows of the writer (apache/hudi#19791, apache/hudi#19793)."""
    shared(path).write(batch([("a", "p", 1, 1)]), "upsert", BESIDE)
    writer = Rival(path, write([("a", "p", 2, 2), ("b", "p", 2, 2)])).begin()
    replacing = Rival(path, write([("z", "p", 1, 1)], operation, ALONE)).begin()
    first, second = (replacing, writer) if replaced_first else (writer, replacing)
    assert first.finish() is None
    stands = content(shared(path))
    assert isinstance(second.finish(), WriteConflictError)
    assert content(shared(path)) == stands
    write([("a", "p", 3, 3), ("b", "p", 3, 3)])(shared(path))
    assert content(shared(path)) == {**stands, "a": ("p", 3, 3), "b": ("p", 3, 3)}
    at_rest(shared(path))


def test_a_bucket_whose_file_group_was_replaced_gets_another(path):
    """Hudi 1.2.0 writes to the replaced one again, whose rows no reader sees."""
    shared(path).write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("x", "q", 1, 1)]), "upsert", BESIDE)
    shared(path).delete_partitions(["part=p"], OCC)
    one = Rival(path, write([("a", "p", 2, 2)])).begin()
    two = Rival(path, write([("a", "p", 1, 3), ("b", "p", 1, 3)])).begin()
    assert two.finish() is None
    assert one.finish() is None
    assert content(shared(path)) == {"a": ("p", 2, 2), "b": ("p", 1, 3), "x": ("q", 1, 1)}
    shared(path).delete_partitions(["part=p"], OCC)
    shared(path).write(batch([("a", "p", 1, 4)]), "upsert", BESIDE)
    assert content(shared(path)) == {"a": ("p", 1, 4), "x": ("q", 1, 1)}
    assert len(groups(shared(path))) == 6


def test_a_bulk_insert_writes_base_files_and_loses_against_a_log(path):
    shared(path).write(batch([("a", "p", 1, 1)]), "bulk_insert", BESIDE)
    (first,) = groups(shared(path))
    bulk = Rival(path, write([("b", "q", 1, 1), ("c", "q", 1, 1)], "bulk_insert")).begin()
    log = Rival(path, write([("b", "q", 2, 2), ("c", "q", 2, 2)])).begin()
    assert log.finish() is None
    assert isinstance(bulk.finish(), WriteConflictError)
    late = Rival(path, write([("a", "p", 3, 3), ("b", "r", 3, 3)])).begin()
    bulk = Rival(path, write([("b", "r", 1, 1)], "bulk_insert")).begin()
    assert bulk.finish() is None
    assert late.finish() is None
    assert first.file_id in {fixed_file_id(0), fixed_file_id(1)}
    rows = content(shared(path), filter="part != 'q'")
    assert rows == {"a": ("p", 3, 3), "b": ("r", 3, 3)}
    at_rest(shared(path))


def test_an_optimistic_writer_beside_them_loses(path):
    shared(path).write(batch([("a", "p", 1, 1)]), "upsert", BESIDE)
    optimistic = Rival(path, write([("a", "p", 3, 3)], options=ALONE)).begin()
    beside = Rival(path, write([("a", "p", 2, 2)])).begin()
    assert beside.finish() is None
    assert isinstance(optimistic.finish(), WriteConflictError)
    assert content(shared(path)) == {"a": ("p", 2, 2)}

"""Batches of queries in the commits of a table, without Spark's session."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, StreamBatchError
from hoodie.spark.stream.batches import KEY, WrittenBatch, batch_metadata, check_batch, last_batch
from tests.support.archive import archive, archive_before
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    return create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})


def commit(table, number, query="q", run="r1"):
    """Write a batch; returns what a sink remembers of it."""
    done = table.write(
        batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM, extra_metadata=batch_metadata(query, number, run)
    )
    return WrittenBatch(number, run, done.instant.time)


def test_the_last_batch_of_a_query_is_found_behind_other_commits(table):
    assert last_batch(table.state(), "q") is None
    first = commit(table, 0)
    commit(table, 7, "other")
    write(table, [("b", "p", 1, 1)])
    assert last_batch(table.state(), "q") == first
    second = commit(table, 1)
    write(table, [("b", "p", 2, 2)])
    assert last_batch(table.state(), "q") == second
    assert last_batch(table.state(), "q", second) is second
    assert last_batch(table.state(), "none") is None


def test_a_batch_is_found_in_the_archive(table):
    found = commit(table, 3)
    for number in range(4):
        write(table, [("b", "p", number, number)])
    archive_before(table, table.timeline.commits[3].time)
    assert last_batch(table.state(), "q") == found
    assert check_batch(table.state(), "q", 3, "r2", None) == found


def test_a_batch_is_found_in_the_archive_though_an_older_one_is_active(table):
    commit(table, 3)
    found = commit(table, 4)
    for number in range(2):
        write(table, [("b", "p", number, number)])
    archive(table, table.timeline.commits[1:2])  # Hudi's archiver leaves a commit with a savepoint
    assert last_batch(table.state(), "q") == found
    assert check_batch(table.state(), "q", 4, "r2", None) == found


def test_which_batches_are_written(table):
    known = commit(table, 4)
    state = table.state()
    for number, run, of_run in ((5, "r1", known), (6, "r1", known), (5, "r2", None)):
        assert check_batch(state, "q", number, run, of_run) is None
    assert check_batch(state, "q", 4, "r2", None) == known, "a run that was killed behind its commit starts again"
    assert check_batch(state, "q", 4, "r1", known) == known
    with pytest.raises(StreamBatchError, match="older than what table"):
        check_batch(state, "q", 3, "r2", None)
    commit(table, 5, run="r2")
    for number in (5, 6):
        with pytest.raises(StreamBatchError, match="another run of the query"):
            check_batch(table.state(), "q", number, "r1", known)


@pytest.mark.parametrize("text", ["7", "{}", '{"batch": "x", "run": "r"}', "["])
def test_a_batch_that_cannot_be_read_is_an_error(table, text):
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM, extra_metadata={KEY + "q": text})
    with pytest.raises(CorruptTableError, match="cannot be read"):
        last_batch(table.state(), "q")

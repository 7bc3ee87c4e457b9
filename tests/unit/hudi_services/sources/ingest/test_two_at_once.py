"""Two ingestions into one table at once, under optimistic concurrency control: no row twice, none lost, no position goes back."""

from __future__ import annotations

import pytest

from hoodie.errors import PendingInstantError
from hudi_services.sources.ingest.load import Load
from tests.support.rivals import OCC, shared
from tests.support.tables import batch, content

FIRST, SECOND, THIRD = batch([("a", "p", 1, 1)]), batch([("b", "p", 2, 2)]), batch([("c", "q", 3, 3)])
AGAIN = {**OCC, "hoodie.write.num.retries.on.conflict.failures": "2"}


@pytest.fixture
def beside(monkeypatch):
    """While a run has written its files, and has not committed, another thing happens; the run's error is returned."""

    def run(first, other):
        commit, others = Load.before_commit, [other]

        def overtaken(load):
            if others:
                others.pop()()
            return commit(load)

        monkeypatch.setattr(Load, "before_commit", overtaken)
        try:
            return first()
        except PendingInstantError as error:
            return error

    return run


@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert"])
def test_of_two_runs_of_one_feed_one_loads_what_both_found(feed, beside, operation):
    feed.land("1.parquet", FIRST)
    feed.run(options=OCC)
    feed.land("2.parquet", SECOND)

    def later():
        feed.land("3.parquet", THIRD)
        assert feed.run(options=OCC, operation=operation).files_read == 2

    error = beside(lambda: feed.run(options=AGAIN, operation=operation), later)
    assert "Another ingestion committed" in str(error)
    assert error.retryable
    assert sorted(feed.content) == ["a", "b", "c"]
    assert not feed.open().timeline.pending
    assert feed.run(options=OCC, operation=operation).instant is None, "the position did not go back"


def test_of_two_feeds_of_one_table_neither_forgets_the_other(feed, beside, tmp_path):
    feed.land("1.parquet", FIRST)
    feed.run(options=OCC)
    second = tmp_path / "other"
    feed.land("2.parquet", SECOND)
    feed.land(second / "3.parquet", THIRD)
    error = beside(lambda: feed.run(options=AGAIN), lambda: feed.run(options=OCC, source=second))
    assert isinstance(error, PendingInstantError)
    assert sorted(feed.content) == ["a", "c"]
    assert feed.run(options=OCC).files_read == 1, "what it had not loaded"
    assert sorted(feed.content) == ["a", "b", "c"]
    assert feed.run(options=OCC).instant is None
    assert feed.run(options=OCC, source=second).instant is None


def test_a_writer_that_is_no_ingestion_does_not_stop_one_nor_forgets_its_position(feed, beside):
    feed.land("1.parquet", FIRST)
    feed.run(options=OCC)
    feed.land("2.parquet", SECOND)

    def backfill():
        shared(feed.table).write(batch([("z", "r", 1, 1)]), "upsert", OCC)

    done = beside(lambda: feed.run(options=OCC), backfill)
    assert done.rows_inserted == 1
    shared(feed.table).write(batch([("y", "r", 1, 1)]), "upsert", OCC)
    assert feed.run(options=OCC).instant is None
    assert sorted(feed.content) == ["a", "b", "y", "z"]


def test_an_ingestion_that_lost_against_another_writer_is_planned_again_with_the_same_files(feed, beside):
    feed.land("1.parquet", FIRST)
    feed.run(options=OCC)
    feed.land("2.parquet", batch([("a", "p", 5, 5), ("b", "p", 2, 2)]))

    def update():
        shared(feed.table).write(batch([("a", "p", 9, 9)]), "upsert", OCC)

    done = beside(lambda: feed.run(options=AGAIN), update)
    assert (done.files_read, done.rows_read) == (1, 2)
    assert content(feed.open()) == {"a": ("p", 9, 9), "b": ("p", 2, 2)}
    assert feed.run(options=OCC).instant is None

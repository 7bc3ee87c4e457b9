"""A compaction that waits is unscheduled: no row changes, and none is lost."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, LOG_COMPACTION, UnscheduleCompaction
from hoodie.errors import LockHeldError, PendingInstantError
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.concurrency import plan_lock
from hoodie.transaction.transaction import Transaction
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.faulty import Killed
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, content, create

BEFORE = {"a": ("p", 2, 2), "b": ("p", 1, 1)}


def die(*_):
    raise Killed


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """A file group with a log."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    return table


def is_version_6(table):
    return table.state().properties.version == 6


@pytest.mark.parametrize("begun", [False, True])
def test_the_plan_goes_with_what_was_begun_of_it(table, monkeypatch, begun):
    time = table.schedule(COMPACTION, force=True)
    if begun:
        with monkeypatch.context() as patch:
            patch.setattr(Transaction, "commit", die)
            with pytest.raises(Killed):
                table.run(COMPACTION, SMALL_BLOOM)
    table.run(UnscheduleCompaction(time))
    assert table.timeline.pending == ()
    assert [
        file.path for found in TableView(table.state()).files for file in found.base_files if time in file.path
    ] == []
    table.write(batch([("b", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**BEFORE, "b": ("p", 3, 3)}
    with pytest.raises(PendingInstantError, match=time):
        table.run(UnscheduleCompaction(time))
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == {**BEFORE, "b": ("p", 3, 3)}


def test_logs_on_top_of_the_plan_are_kept(table):
    """In version 6 they carry its instant: without the plan no reader sees them."""
    time = table.schedule(COMPACTION, force=True)
    table.write(batch([("b", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    if is_version_6(table):
        with pytest.raises(PendingInstantError, match=rf"{time}.*was written on top.*--instant {time}"):
            table.run(UnscheduleCompaction(time))
        assert [each.time for each in table.timeline.pending] == [time]
    else:
        table.run(UnscheduleCompaction(time))
    assert content(table) == {**BEFORE, "b": ("p", 3, 3)}


def test_beside_a_living_writer_only_where_its_logs_do_not_need_the_plan(table):
    shared = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
    time = table.schedule(COMPACTION, force=True)
    state = table.state()
    writer = instants.request(state, str(int(time) + 1000), Action.DELTA_COMMIT, b"")
    table.storage.create(f".hoodie/.heartbeat/{writer.time}", b"")
    if is_version_6(table):
        with pytest.raises(PendingInstantError, match=f"{writer.time}.*may write logs"):
            table.run(UnscheduleCompaction(time), shared)
    else:
        table.run(UnscheduleCompaction(time), shared)
    assert (time in [each.time for each in table.timeline.pending]) == is_version_6(table)


def test_not_while_somebody_carries_it_out(table):
    time = table.schedule(COMPACTION, force=True)
    with plan_lock(table.storage, table.clock, time, NO_WAIT), pytest.raises(LockHeldError):
        table.run(UnscheduleCompaction(time))
    assert [each.time for each in table.timeline.pending] == [time]


def test_a_log_compaction_and_a_torn_plan(table, monkeypatch):
    monkeypatch.setattr("hoodie.services.log_compaction.plan.check_supported", lambda _state: None)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    time = table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
    table.run(UnscheduleCompaction(time))
    time = table.schedule(COMPACTION, force=True)
    plan = table.state().layout.requested_path(time, Action.COMPACTION)
    table.storage.replace(plan, table.storage.read(plan), b"torn")
    assert "torn plan" in table.explain(UnscheduleCompaction(time)).reason
    table.run(UnscheduleCompaction(time))
    assert table.timeline.pending == ()
    assert content(table) == BEFORE

"""An execution of a plan that waits no more completes nothing, and deletes only what no other process has committed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie import COMPACTION
from hoodie.errors import PendingInstantError
from hoodie.model.commit import WriteStat
from hoodie.timeline import Action
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency import PlanExecution, pending_plan
from tests.support.clock import FakeClock
from tests.support.locks import locking
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def table(tmp_path):
    """A table with a planned compaction."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)
    return table


def execution(table, time):
    return PlanExecution(table.storage, table.clock, time, Action.COMPACTION, locking())


def complete(table, plan, *changes):
    with execution(table, plan.time).completing(table.state(), changes):
        raise AssertionError("it must not be completed")


def test_what_another_process_has_committed_stays(table):
    (plan,) = table.timeline.pending
    table.run(COMPACTION)
    metadata = table.state().commit_metadata(table.timeline.last_commit)
    (stat,) = metadata.stats
    name = stat.path.rpartition("/")[2]
    own = f"part=p/{stat.file_id}_9-9-9_{plan.time}.parquet"
    assert name != own.rpartition("/")[2]
    table.storage.create(own, b"rows")
    both = replace(metadata, stats=(stat, WriteStat(stat.file_id, own, stat.partition)))
    with pytest.raises(PendingInstantError, match=f"no pending compaction {plan.time}"):
        complete(table, plan, Change(plan, both))
    assert table.storage.info(own) is None
    assert table.storage.info(stat.path) is not None
    assert content(table) == {"a": ("p", 2, 2)}


def test_a_plan_that_was_taken_back_is_not_completed(table):
    (plan,) = table.timeline.pending
    table.storage.delete(table.state().layout.requested_path(plan.time, plan.action))
    with pytest.raises(PendingInstantError, match="has no pending compaction"):
        complete(table, plan)


def test_one_process_carries_out_a_plan_and_writers_go_on(table):
    (plan,) = table.timeline.pending
    with execution(table, plan.time).beginning() as state:
        assert state.timeline.pending == (plan,)
        table.write(batch([("b", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert set(content(table)) == {"a", "b"}


def test_the_plan_of_an_instant_that_does_not_wait(table):
    state, (plan,) = table.state(), table.timeline.pending
    assert pending_plan(state, plan.time, Action.COMPACTION) == plan
    with pytest.raises(PendingInstantError, match=f"has no pending compaction 1.*pending are {plan.time}"):
        pending_plan(state, "1", Action.COMPACTION)
    with pytest.raises(PendingInstantError, match="pending are none"):
        pending_plan(state, plan.time, Action.CLUSTERING)

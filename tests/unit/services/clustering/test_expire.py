"""Clusterings that wait for too long, and those that only seem to."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie import CLUSTERING
from hoodie.config.groups import CLUSTER_OPTIONS
from hoodie.config.key import resolve
from hoodie.services.clustering.expire import expired, schedule_clustering
from hoodie.services.rewrite import removal
from hoodie.transaction.concurrency import plan_lock
from hoodie.transaction.locks import Locking
from hudi_services.services.clustering.task import ClusterTask
from tests.support.clock import FakeClock
from tests.support.faulty import Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
EXPIRING = {"hoodie.clustering.enable.expirations": True, "hoodie.clustering.expiration.threshold.mins": 30}
CONTENT = {"a": ("p", 1, 1), "b": ("p", 2, 2)}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """With a clustering of two file groups that waits."""
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    for key, value in (("a", 1), ("b", 2)):
        made.write(batch([(key, "p", value, value)]), "insert", APART)
    assert made.schedule(CLUSTERING, force=True) is not None
    return made


def pending(table):
    return [instant.time for instant in table.timeline.pending]


def later(table, minutes):
    table.clock.time += timedelta(minutes=minutes)


def test_an_old_plan_gives_way_to_a_new_one(table):
    (old,) = pending(table)
    later(table, 29)
    assert schedule_clustering(table.access, EXPIRING)[2] == []
    assert pending(table) == [old], "it is young"
    later(table, 1)
    assert expired(table.state(), {}, table.clock) == [], "nobody has asked for it"
    instant, _, gone = schedule_clustering(table.access, EXPIRING, force=True)
    assert [each.time for each in gone] == [old]
    assert pending(table) == [instant.time]
    table.run(CLUSTERING, SMALL_BLOOM)
    assert content(table) == CONTENT
    assert len(table.file_slices()) == 1


def test_a_plan_that_somebody_carries_out_stays(table):
    (old,) = pending(table)
    later(table, 60)
    locking = Locking.of(resolve({}, CLUSTER_OPTIONS.keys))
    with plan_lock(table.storage, table.clock, old, locking):
        assert schedule_clustering(table.access, EXPIRING)[2] == []
        assert pending(table) == [old]
    heartbeat = f".hoodie/.heartbeat/{old}"
    table.storage.create(heartbeat, b"")
    now = table.clock.time
    table.clock.time = now.fromtimestamp(table.storage.info(heartbeat).modified_ms / 1000, now.tzinfo)
    assert expired(table.state(), EXPIRING, table.clock) == [], "Hudi's writer lives"
    later(table, 60)
    assert [each.time for each in expired(table.state(), EXPIRING, table.clock)] == [old]


def test_killed_before_the_next_is_scheduled(table, monkeypatch):
    def die(*_):
        raise Killed

    later(table, 60)
    with monkeypatch.context() as patch:
        patch.setattr(removal, "drop", die)
        with pytest.raises(Killed):
            schedule_clustering(table.access, EXPIRING)
    assert content(table) == CONTENT
    instant, *_ = schedule_clustering(table.access, EXPIRING, force=True)
    assert pending(table) == [instant.time]
    assert content(table) == CONTENT


@pytest.mark.parametrize("mode", ["schedule", "scheduleAndExecute"])
def test_the_task_says_so_where_it_does_not_carry_the_plan_out(table, mode):
    (old,) = pending(table)
    later(table, 60)
    task = ClusterTask(table.base_path, {**SMALL_BLOOM, **EXPIRING}, mode, None, None, force=True)
    told = task.explain(table.engine).as_text("cluster")
    assert (f"clustering {old} would be unscheduled" in told) == (mode == "schedule")
    message = task.run(table.engine).message
    assert (f"gave {old} up" in message) == (mode == "schedule")
    assert (old in pending(table)) is False
    assert content(table) == CONTENT

"""Obstacles to an upgrade, and the commands that end them."""

from __future__ import annotations

import pytest

from hoodie import CLUSTERING, COMPACTION, HoodieTable, Upgrade
from hoodie.config.properties.store import update_properties
from hoodie.errors import PendingInstantError
from hoodie.services.upgrade.plan import held
from hoodie.timeline import Action
from tests.support.tables import SMALL_BLOOM, batch
from tests.support.upgrades import compact, made

ROWS = batch([("a", "p", 1, 1), ("b", "q", 1, 1)])


@pytest.fixture
def table(tmp_path, request):
    table = made(tmp_path / "t", getattr(request, "param", "COPY_ON_WRITE"))
    table.write(ROWS, "insert", SMALL_BLOOM)
    return table


def obstacles(table, target=9):
    decision = table.explain(Upgrade(target))
    found = {each.kind: each for each in held(decision)}
    if not found:
        assert decision.plan is not None
        return found
    assert decision.plan is None
    assert all(str(each) in decision.as_text("upgrade") for each in found.values())
    assert {each["kind"] for each in decision.as_dict("upgrade")["obstacles"]} == found.keys()
    before = table.timeline
    with pytest.raises(PendingInstantError, match="nothing was changed"):
        table.run(Upgrade(target))
    assert (table.version, table.timeline) == (6, before)
    return found


@pytest.mark.parametrize("table", ["MERGE_ON_READ"], indirect=True)
def test_logs_and_pending_compactions(table):
    assert not obstacles(table)
    table.write(ROWS, "upsert", SMALL_BLOOM)
    assert "compact --force" in obstacles(table)["logs"].fix
    table.schedule(COMPACTION, force=True)
    (instant,) = table.timeline.pending
    assert obstacles(table)["pending"].fix == f"`hudi-services compact --mode execute --instant {instant.time}`"
    table.run(COMPACTION)
    assert not obstacles(table)
    table.write(ROWS, "upsert", SMALL_BLOOM)
    compact(table)
    assert not obstacles(table, 8)


def test_pending_plans_of_clusterings_and_writes(table):
    table.write(batch([("c", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    table.schedule(CLUSTERING, force=True)
    (instant,) = table.timeline.pending
    assert f"cluster --mode execute --instant {instant.time}" in obstacles(table)["pending"].fix
    table.run(CLUSTERING)
    table.storage.create(".hoodie/20990101000000001.commit.requested", b"")
    assert "rollback --instant 20990101000000001" in obstacles(table)["pending"].fix


@pytest.mark.parametrize(
    ("action", "fix"),
    [
        (Action.CLEAN, "`hudi-services clean` finishes it"),
        (Action.INDEXING, "finish it with Hudi"),
        (Action.ROLLBACK, "any write or service"),
    ],
)
def test_other_pending_instants(table, action, fix):
    table.storage.create(f".hoodie/20990101000000001.{action}.inflight", b"")
    assert fix in obstacles(table)["pending"].fix


def test_bootstraps_and_upgrades_of_others(table):
    table.storage.create(".hoodie/timeline/20260101000000001_20260101000000002.commit", b"of Hudi's upgrade")
    assert "another program" in obstacles(table)["timeline"].text
    table.storage.delete_folder(".hoodie/timeline")
    update_properties(table.storage, table.properties.with_values({"hoodie.bootstrap.base.path": "/data/plain"}))
    assert "/data/plain" in obstacles(table)["bootstrap"].text


def test_merge_rules_that_no_later_version_has(table):
    payload = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
    update_properties(table.storage, table.properties.with_values({"hoodie.compaction.payload.class": payload}))
    found = obstacles(table)
    assert "hoodie.record.merge.mode=COMMIT_TIME_ORDERING" in found["merging"].fix
    assert table.explain(Upgrade(9, despite=("merging",))).plan is not None
    mode = {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
    assert not held(table.explain(Upgrade(9), mode))
    table.run(Upgrade(9), mode)
    assert HoodieTable.open(table.base_path).properties.merge_mode == "EVENT_TIME_ORDERING"


def test_writers_at_work(table):
    time = "20990101000000001"
    table.storage.create(f".hoodie/{time}.commit.requested", b"")
    table.storage.touch(f".hoodie/.heartbeat/{time}")
    table.storage.create(".hoodie/.locks/compaction.lock", b"{}")
    assert {"pending", "writers", "locks"} <= {each.kind for each in held(table.explain(Upgrade(9)))}

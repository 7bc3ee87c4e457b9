"""The groups that pending services hold, and the cost of the question."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, LOG_COMPACTION
from hoodie.formats import avro_file
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.view import PendingGroups, TableView, load_state
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import SMALL_BLOOM, batch, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture
def table(tmp_path):
    """One group with a log in p, which waits for a compaction; one in q with two logs, for a log compaction; one in r, for a
    clustering."""
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([(key, key, 1, 1) for key in "pqr"]), "insert", NO_SMALL_FILES)
    made.write(batch([("p", "p", 2, 2)]), "upsert", NO_SMALL_FILES)
    assert made.schedule(COMPACTION, force=True) is not None
    for ts in (2, 3):
        made.write(batch([("q", "q", ts, ts)]), "upsert", NO_SMALL_FILES)
    assert made.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2}) is not None
    (waiting,) = TableView(made.state(), ["part=r"]).slices
    group = {"slices": [{"fileId": waiting.file_id, "partitionPath": waiting.partition}]}
    plan = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": [group]}})
    instants.request(made.state(), "20990101000000000", Action.CLUSTERING, plan)
    return made


def partitions(groups):
    return [group.partition for group in groups]


def test_groups_by_kind(table):
    state = load_state(CountingStorage(table.base_path), table.clock)
    before = len(state.storage.opened)
    busy = TableView(state).busy
    compaction, logs, clustering = state.timeline.pending
    assert (partitions(busy.compacting), *busy.compacting.values()) == (["part=p"], compaction)
    assert len(state.storage.opened) == before + 1, "a kind that nobody asks for is not read"
    assert (partitions(busy.log_compacting), *busy.log_compacting.values()) == (["part=q"], logs)
    assert (partitions(busy.clustering), *busy.clustering.values()) == (["part=r"], clustering)
    assert sorted(partitions(busy.holders)) == ["part=p", "part=q", "part=r"]
    assert set(busy.holders) == {s.group for s in TableView(state).slices}
    assert len(state.storage.opened) == before + 3, "each plan is read once"


def test_but_one(table):
    state = table.state()
    compaction, logs, clustering = state.timeline.pending
    assert sorted(partitions(PendingGroups(state, but=compaction).holders)) == ["part=q", "part=r"]
    assert sorted(partitions(PendingGroups(state, but=logs).holders)) == ["part=p", "part=r"]
    assert sorted(partitions(PendingGroups(state, but=clustering).holders)) == ["part=p", "part=q"]

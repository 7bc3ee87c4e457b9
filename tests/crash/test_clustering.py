"""A clustering, or giving one up, is killed or out of disk at each storage call."""

from __future__ import annotations

import pytest

from hoodie import CLUSTERING, GiveUpClustering
from tests.support.clock import FakeClock
from tests.support.crashes import FIRST, killed, reopen, run_to_failure, uncommitted
from tests.support.faulty import Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create

CLUSTERED = [
    ("9", "kill", True, "MERGE_ON_READ"),
    ("9", "full", False, "COPY_ON_WRITE"),
    ("6", "kill", False, "MERGE_ON_READ"),
]


def clustered(path, version, table_type):
    """Three small file groups, with an update and a deletion."""
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
    table.write(FIRST, "insert", options)
    table.write(batch([("d", "p", 1, 1), ("e", "p", 1, 1)]), "insert", options)
    table.write(batch([("a", "p", 2, 2)]), "upsert", options)
    table.write(batch([("b", "p", 2, 2)]), "delete", options)
    return table


@pytest.mark.parametrize(("version", "kind", "half", "table_type"), CLUSTERED)
def test_a_clustering_that_dies_at_any_call(tmp_path, version, kind, half, table_type):
    """Scheduling, then executing: two file groups of a partition become one."""
    expected = {"a": ("p", 2, 2), "c": ("q", 1, 1), "d": ("p", 1, 1), "e": ("p", 1, 1)}

    def cluster(table):
        if not table.timeline.pending:
            table.schedule(CLUSTERING, {"hoodie.clustering.plan.strategy.sort.columns": "value"}, force=True)
        table.run(CLUSTERING, SMALL_BLOOM)

    def prepare(path):
        clustered(path, version, table_type)

    for storage, clock, call in run_to_failure(tmp_path, prepare, cluster, kind, half):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        done = [i for i in table.timeline.commits if table.state().commit_metadata(i).operation == "CLUSTER"]
        if not done:
            cluster(table)
        assert content(table) == expected, call
        assert [each.partition for each in table.file_slices()] == ["part=p", "part=q"], call
        table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call


@pytest.mark.parametrize("version", ["9", "6"])
def test_giving_up_a_clustering_that_dies_at_any_call(tmp_path, monkeypatch, version):
    """Its execution was begun, and had written its files."""
    expected = {"a": ("p", 2, 2), "c": ("q", 1, 1), "d": ("p", 1, 1), "e": ("p", 1, 1)}

    def prepare(path):
        table = clustered(path, version, "COPY_ON_WRITE")
        table.schedule(CLUSTERING, force=True)
        with monkeypatch.context() as patch:
            patch.setattr("hoodie.transaction.transaction.Transaction.commit", killed)
            with pytest.raises(Killed):
                table.run(CLUSTERING, SMALL_BLOOM)

    def give_up(table):
        for pending in table.timeline.pending:
            if pending.action is table.state().layout.clustering:
                table.run(GiveUpClustering(pending.time))

    for storage, clock, call in run_to_failure(tmp_path, prepare, give_up, "kill", True):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        give_up(table)
        table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call

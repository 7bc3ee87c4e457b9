"""The planner of clustering: when one is due, which groups it takes, and what it refuses."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

from hoodie import CLUSTERING, COMPACTION, HoodieTable
from hoodie.errors import (
    ConfigError,
    PendingInstantError,
    UnsupportedTableError,
)
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.timeline import Action
from hoodie.timeline.codecs.clustering import decode_clustering_plan, encode_clustering_plan
from hoodie.transaction import instants
from hoodie.view import TableView
from tests.support.clock import FakeClock
from tests.support.clustered import CONTENT, NO_SMALL_FILES, PLAN
from tests.support.tables import SMALL_BLOOM, batch, content, create


def planned(table, **options):
    plan = table.explain(CLUSTERING, {"hoodie.clustering.async.max.commits": 1, **options}).plan
    return [[each.partition for each in group.slices] for group in plan.inputs] if plan else None


def test_which_file_groups_are_taken(table):
    assert planned(table) == [["part=p"] * 3]
    sort = {PLAN + "sort.columns": "value"}
    assert planned(table, **sort) == [["part=p"] * 3, ["part=q"]]
    assert planned(table, **sort, **{PLAN + "single.group.clustering.enabled": "false"}) == [["part=p"] * 3]
    assert planned(table, **sort, **{PLAN + "small.file.limit": 1}) is None
    assert planned(table, **sort, **{PLAN + "max.bytes.per.group": 1}) == [["part=p"]] * 3 + [["part=q"]]
    assert planned(table, **sort, **{PLAN + "max.bytes.per.group": 1, PLAN + "max.num.groups": 2}) == [["part=p"]] * 2


def test_which_partitions_are_looked_at(table):
    sort, mode = {PLAN + "sort.columns": "value"}, "hoodie.clustering.plan.partition.filter.mode"
    p, q = [["part=p"] * 3], [["part=q"]]
    assert planned(table, **sort, **{PLAN + "partition.selected": "part=q/,part=none"}) == q
    asked = {"hoodie.clustering.async.max.commits": 1, PLAN + "partition.selected": "part=q,part=none"}
    told = table.explain(CLUSTERING, asked).reason
    assert told.endswith("; of hoodie.clustering.plan.strategy.partition.selected these are not there: part=none")
    assert planned(table, **sort, **{PLAN + "partition.regex.pattern": ".*=q"}) == q
    assert planned(table, **sort, **{PLAN + "partition.regex.pattern": "q"}) is None, "the whole path is compared"
    assert planned(table, **sort, **{mode: "RECENT_DAYS", PLAN + "daybased.lookback.partitions": 1}) == q
    skipped = {PLAN + "daybased.skipfromlatest.partitions": 1, PLAN + "daybased.lookback.partitions": 1}
    assert planned(table, **sort, **{mode: "RECENT_DAYS", **skipped}) == p
    assert planned(table, **sort, **{mode: "SELECTED_PARTITIONS", PLAN + "cluster.begin.partition": "part=q"}) == q
    assert planned(table, **sort, **{mode: "SELECTED_PARTITIONS", PLAN + "cluster.end.partition": "./part=p"}) == p
    with pytest.raises(ConfigError, match="SELECTED_PARTITIONS"):
        planned(table, **{PLAN + "cluster.end.partition": "part=p"})


def test_due_after_commits(table):
    wanted = {"hoodie.clustering.async.max.commits": 6}
    assert table.schedule(CLUSTERING, wanted) is None
    assert "5 commits (of 6, hoodie.clustering.async.max.commits)" in table.explain(CLUSTERING, wanted).reason
    table.write(batch([("b", "p", 3, 7)]), "upsert", NO_SMALL_FILES)
    assert table.schedule(CLUSTERING, wanted) is not None
    assert "0 commits" in table.explain(CLUSTERING, wanted).reason, "the count begins anew with the plan"
    table.run(CLUSTERING, SMALL_BLOOM)
    assert "0 commits" in table.explain(CLUSTERING, wanted).reason


@pytest.mark.parametrize("column", ["nothing", "tags"])
def test_columns_that_rows_cannot_be_sorted_by(table, column):
    rows = batch([("t", "p", 1, 1)]).append_column("tags", pa.array([["x"]], pa.list_(pa.string())))
    table.write(rows, "insert", NO_SMALL_FILES)
    with pytest.raises(ConfigError, match=column):
        table.schedule(CLUSTERING, {PLAN + "sort.columns": column}, force=True)
    assert not table.timeline.pending


def test_the_plan_reads_as_it_was_written(table):
    plan = table.explain(CLUSTERING, {"hoodie.clustering.async.max.commits": 1, PLAN + "sort.columns": "ts,id"}).plan
    read = decode_clustering_plan(encode_clustering_plan(plan), "here")
    assert (read.inputs, read.params, read.strategy) == (plan.inputs, plan.params, plan.strategy)


def test_while_a_plan_waits_its_groups_are_left_alone(table):
    time = table.schedule(CLUSTERING, force=True)
    action = Action.CLUSTERING if table.version == 9 else Action.REPLACE_COMMIT
    assert [(i.time, i.action) for i in table.timeline.pending] == [(time, action)]
    assert table.explain(CLUSTERING, {"hoodie.clustering.async.max.commits": 1}).plan is None
    with pytest.raises(PendingInstantError, match=time):
        table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    table.write(batch([("z", "q", 9, 9), ("n", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    if table.properties.is_merge_on_read:
        compaction = table.explain(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1}).plan
        assert {operation.partition for operation in compaction.operations} == {"part=q"}
    table.run(CLUSTERING, SMALL_BLOOM)
    assert content(table) == {**CONTENT, "z": ("q", 9, 9), "n": ("p", 9, 9)}


def test_groups_that_a_plan_of_compaction_names_are_not_taken(table):
    if not table.properties.is_merge_on_read:
        assert planned(table) is not None
        return
    table.schedule(COMPACTION, force=True)
    decision = table.explain(CLUSTERING, {"hoodie.clustering.async.max.commits": 1, PLAN + "sort.columns": "value"})
    compacting = TableView(table.state()).busy.compacting
    assert not set(decision.plan.groups) & set(compacting)
    assert decision.blockers
    assert decision.blockers[0].action == "compaction"


def test_groups_of_version_6_to_which_a_living_writer_appends_are_not_taken(tmp_path):
    """Its log has the instant of the base file. No reader looks at it once the group is replaced."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"}
    table = create(tmp_path / "t", FakeClock(), **options)
    for key in "abc":
        table.write(batch([(key, "p", 1, 1)]), "insert", NO_SMALL_FILES)
    state, time = table.state(), "20260601000000000"
    instants.start(state, instants.request(state, time, Action.DELTA_COMMIT))
    log = f"part=p/.{table.file_slices()[0].file_id}_{table.timeline.commits[0].time}.log.1_0-0-0"
    DirectMarkers(table.storage, time).create(log, MarkerType.APPEND)
    shared = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
    assert planned(table, **shared) == [["part=p"] * 3], "its writer is dead"
    table.storage.create(f".hoodie/.heartbeat/{time}", b"")
    assert planned(table, **shared) == [["part=p"] * 2]


def test_a_curve_needs_columns(table):
    with pytest.raises(ConfigError, match=r"sort\.columns"):
        planned(table, **{"hoodie.layout.optimize.strategy": "hilbert"})


def test_a_table_of_buckets_is_refused(table):
    made = HoodieTable.create(
        f"{table.base_path}-buckets",
        {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", "hoodie.table.partition.fields": "part"},
    )
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2, **SMALL_BLOOM}
    made.write(batch([(key, "p", 1, 1) for key in "abcdef"]), "upsert", buckets)
    with pytest.raises(UnsupportedTableError, match="buckets"):
        made.schedule(CLUSTERING, force=True)

"""One planner for every kind of query."""

from __future__ import annotations

import pickle

import pyarrow.compute as pc
import pytest

from hoodie.errors import ArgumentError, ConfigError
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.read.execute import execute_read
from hoodie.read.plan import plan_read, snapshot_columns
from hoodie.read.query import Incremental, Query, Snapshot
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2), ("b", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    return table


def ids(table, query):
    return execute_read(plan_read(table.state(), query), table.storage, table.engine)["id"].to_pylist()


@pytest.mark.parametrize("kind", [Snapshot(), Incremental(None), Incremental("20200101")])
def test_partitions_that_are_named_are_the_only_ones(table, kind):
    q = [each for each in table.state().commit_metadata(table.timeline.commits[0]).partitions if each.endswith("q")]
    assert ids(table, Query(kind=kind, partitions=q)) == ["b"]
    spelled = [q[0], f"./{q[0]}/", f"/{q[0]}//."]
    assert ids(table, Query(kind=kind, partitions=spelled)) == ["b"], "one folder, once"
    with pytest.raises(ArgumentError, match="is not a partition"):
        Query(kind=kind, partitions=["../t"])
    assert ids(table, Query(kind=kind, partitions=[])) == []
    assert sorted(ids(table, Query(kind=kind))) == ["a", "b"]


@pytest.mark.parametrize("kind", [Snapshot(), Incremental(None)])
def test_meta_columns_come_first_where_no_columns_are_named(table, kind):
    state = table.state()
    data = list(table.schema.names)
    assert plan_read(state, Query(kind=kind)).schema.names == data
    assert plan_read(state, Query(kind=kind, meta_columns=True)).schema.names == [*META_COLUMNS, *data]
    assert plan_read(state, Query(["id"], kind=kind, meta_columns=True)).schema.names == ["id"]


def test_without_meta_columns_where_they_are_null(tmp_path):
    table = create(tmp_path / "v", **{"hoodie.populate.meta.fields": "false"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    query = Query(meta_columns=True)
    assert plan_read(table.state(), query).schema.names == table.schema.names
    assert snapshot_columns(table.state(), query, Snapshot()) == table.schema


def test_a_snapshot_of_the_past_has_the_columns_of_its_time(table):
    then = table.timeline.commits[-1].time
    rows = batch([("c", "p", 3, 3)])
    table.write(rows.append_column("extra", rows["value"]), "upsert", SMALL_BLOOM)
    query = Query(kind=Snapshot(then), meta_columns=True)
    expected = plan_read(table.state(), query).schema
    assert "extra" not in expected.names
    assert snapshot_columns(table.state(), query, Snapshot(then)) == expected
    assert "extra" in plan_read(table.state(), Query()).schema.names


def test_the_range_is_told_apart_from_a_filter_of_its_rows(table):
    """An engine that knows the range may say it in its own words, but not together with a filter."""
    state = table.state()
    since = table.timeline.commits[0].completion_time
    assert plan_read(state, Query(kind=Incremental(since))).written.commits == (table.timeline.commits[1].time,)
    assert plan_read(state, Query(kind=Incremental(since), filter=pc.field("value") > 0)).written is None
    assert plan_read(state, Query(filter=pc.field("value") > 0)).written is None


def test_what_a_worker_gets_holds_nothing_of_the_driver_s(table):
    plan = plan_read(table.state(), Query(filter=pc.field("part") == "p"))
    worker = pickle.loads(pickle.dumps(plan.of_slice))
    assert (worker.slices, worker.pruning.partitions) == ((), None)
    assert worker.pruning.filter.equals(plan.filter)


def test_options_are_looked_at_for_every_kind(table):
    for kind in (Snapshot(), Incremental(None)):
        with pytest.raises(ConfigError, match="did you mean"):
            plan_read(table.state(), Query(kind=kind, options={"hoodie.memory.merge.max.sizes": "1"}))

"""Clustering: its rows stay what they are, and nothing is lost beside it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from hoodie import CLEAN, CLUSTERING, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import (
    LockHeldError,
    NotCommittedError,
    PendingInstantError,
    WriteConflictError,
)
from hoodie.model.time import Time
from hoodie.services.clustering import execute
from hoodie.timeline import Action
from hoodie.timeline.codecs.clustering import encode_replace_request
from hoodie.transaction import instants
from hoodie.transaction.concurrency import plan_lock
from tests.support.clustered import CONTENT, NO_SMALL_FILES, PLAN, files_of, groups
from tests.support.faulty import Killed
from tests.support.locks import NO_WAIT
from tests.support.matrix import diagonal
from tests.support.tables import SMALL_BLOOM, batch, content

META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path"]


def meta(table):
    rows = table.read(columns=[*META, "id"]).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_small_files_are_packed_and_rows_stay_what_they_are(table):
    before = meta(table)
    time = table.schedule(CLUSTERING, force=True)
    (done,) = table.run(CLUSTERING, SMALL_BLOOM)
    assert done.instant.time == time
    assert content(table) == CONTENT
    assert meta(table) == before, "no row is of another commit than before"
    (made,) = groups(table)
    assert made.log_files == ()
    assert done.metadata.operation == "CLUSTER"
    assert [stat.num_writes for stat in done.metadata.stats if stat.partition == "part=p"] == [4]
    assert {stat.prev_commit for stat in done.metadata.stats} == {"null"}
    assert len(done.metadata.replaced["part=p"]) == 3
    assert "part=q" not in done.metadata.replaced, "nothing is gained by writing a file again as it is"
    assert not table.timeline.pending
    table.write(batch([("b", "p", 3, 5), ("f", "p", 3, 6)]), "upsert", SMALL_BLOOM)
    assert content(table) == {**CONTENT, "b": ("p", 3, 5), "f": ("p", 3, 6)}


def test_rows_are_sorted_nulls_first(table):
    table.schedule(CLUSTERING, {PLAN + "sort.columns": "value,id"}, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)
    assert content(table) == CONTENT
    assert len(groups(table)) == len(groups(table, "part=q")) == 1, "a file by itself is sorted, too"
    (made,) = groups(table)
    stored = pa.parquet.read_table(f"{table.base_path}/{made.base_file.path}")
    assert stored["id"].to_pylist() == ["e", "a", "b", "c"]
    assert set(stored["_hoodie_file_name"].to_pylist()) == {made.base_file.name}


def test_rows_that_do_not_fit_into_memory_are_sorted_all_the_same(table):
    rows = [(f"k{number:05}", "p", 1, number * 7919 % 5000) for number in range(5000)]
    for start in range(0, 5000, 1000):
        table.write(batch(rows[start : start + 1000]), "insert", NO_SMALL_FILES)
    before = meta(table)
    table.schedule(CLUSTERING, {PLAN + "sort.columns": "value"}, force=True)
    table.run(CLUSTERING, {"hoodie.memory.merge.max.size": 200_000, **SMALL_BLOOM})
    assert meta(table) == before
    (made,) = groups(table)
    values = pa.parquet.read_table(f"{table.base_path}/{made.base_file.path}")["value"].to_pylist()
    assert values[1:] == sorted(values[1:])
    assert values[0] is None
    assert len(values) == 5004


def test_a_group_becomes_as_many_files_as_its_plan_says(table):
    rows = [(f"k{number:05}", "p", 1, number * 7919 % 5000) for number in range(5000)]
    table.write(batch(rows), "insert", NO_SMALL_FILES)
    size = sum(each.size for each in groups(table))
    table.schedule(
        CLUSTERING, {PLAN + "sort.columns": "value", PLAN + "target.file.max.bytes": size // 3 + 1}, force=True
    )
    (done,) = table.run(CLUSTERING, SMALL_BLOOM)
    written = [stat.num_writes for stat in done.metadata.stats if stat.partition == "part=p"]
    assert len(written) == 3
    assert sum(written) == 5004
    assert max(written) - min(written) < 10
    assert content(table) == {**CONTENT, **{key: (part, ts, value) for key, part, ts, value in rows}}


def as_if_allowed(monkeypatch):
    """A writer that goes past plans, as Hudi's does with SparkAllowUpdateStrategy."""
    monkeypatch.setattr("hoodie.write.placement.Placement._refuse_clustered", lambda _self, _touched: None)


def test_a_group_that_was_written_to_since_its_plan_stays_with_all_its_rows(table, monkeypatch):
    time = table.schedule(CLUSTERING, force=True)
    with monkeypatch.context() as patch:
        as_if_allowed(patch)
        table.write(batch([("a", "p", 9, 99)]), "upsert", SMALL_BLOOM)
    (done,) = table.run(CLUSTERING, SMALL_BLOOM)
    assert len(done.passed_over) == 1
    assert content(table) == {**CONTENT, "a": ("p", 9, 99)}
    assert len(done.metadata.replaced["part=p"]) == 2
    assert done.instant.time == time


def test_a_group_that_was_replaced_since_its_plan_is_not_replaced_twice(table, monkeypatch):
    time = table.schedule(CLUSTERING, force=True)
    monkeypatch.setattr("hoodie.write.overwrite.refuse_waiting", lambda *_: None)
    monkeypatch.setattr("hoodie.write.drop.refuse_waiting", lambda *_: None)
    table.delete_partitions(["part=p"])
    with pytest.raises(PendingInstantError, match=time):
        table.run(CLUSTERING, SMALL_BLOOM, time=time)
    assert content(table) == {"z": ("q", 1, 1)}


@pytest.mark.parametrize("how", ["update", "delete", "replace"])
def test_what_is_written_while_it_is_carried_out_is_not_lost(table, monkeypatch, how):
    time = table.schedule(CLUSTERING, force=True)
    real = execute._clustered

    def meanwhile(*args):
        stats = real(*args)
        with monkeypatch.context() as patch:
            as_if_allowed(patch)
            patch.setattr("hoodie.write.drop.refuse_waiting", lambda *_: None)
            if how == "replace":
                table.delete_partitions(["part=p"])
            else:
                table.write(batch([("a", "p", 9, 99)]), "upsert" if how == "update" else "delete", SMALL_BLOOM)
        return stats

    monkeypatch.setattr(execute, "_clustered", meanwhile)
    with pytest.raises(WriteConflictError, match=time):
        table.run(CLUSTERING, SMALL_BLOOM)
    after = {
        "update": {**CONTENT, "a": ("p", 9, 99)},
        "delete": {key: row for key, row in CONTENT.items() if key != "a"},
        "replace": {"z": ("q", 1, 1)},
    }[how]
    assert content(table) == after
    monkeypatch.setattr(execute, "_clustered", real)
    if how != "replace":
        (done,) = table.run(CLUSTERING, SMALL_BLOOM)
        assert len(done.passed_over) == 1
        assert content(table) == after
        names = {each.info.name for s in groups(table) for each in ([s.base_file] if s.base_file else [])}
        assert len([n for n in names if time in n]) == 1, "what the first attempt wrote is deleted"


def test_a_replacement_that_is_no_clustering_is_not_carried_out(table, monkeypatch):
    action = table.state().layout.clustering
    instants.request(table.state(), Time.of("20990101000000000"), action, encode_replace_request(None))
    if action is Action.REPLACE_COMMIT:
        assert table.run(CLUSTERING) == []
    with pytest.raises(PendingInstantError, match="not a clustering"):
        table.run(CLUSTERING, time="20990101000000000")


def test_one_process_carries_it_out(table):
    time = table.schedule(CLUSTERING, force=True)
    with plan_lock(table.storage, table.clock, time, NO_WAIT), pytest.raises(LockHeldError):
        table.run(CLUSTERING, {**SMALL_BLOOM, "hoodie.write.lock.wait_time_ms": 0})
    assert content(table) == CONTENT


def test_readers_of_changes_see_no_clustered_row(table):
    last = table.timeline.last_commit
    since = last.completion_time if table.version == 9 else last.time
    table.schedule(CLUSTERING, {PLAN + "sort.columns": "value"}, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)
    assert table.read_incremental(since).num_rows == 0
    assert {row["id"] for row in table.read_incremental(None).to_pylist()} == set(CONTENT)


def test_the_past_can_be_read_until_a_clean_removes_what_was_replaced(table):
    before = table.timeline.last_commit.time
    replaced = {path for each in groups(table) for path in each.paths}
    table.schedule(CLUSTERING, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)
    assert content(table, as_of=before) == CONTENT
    for ts in (3, 4):
        table.write(batch([("z", "q", ts, ts)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert not any((Path(table.base_path) / path).exists() for path in replaced)
    assert content(table) == {**CONTENT, "z": ("q", 4, 4)}


def test_a_table_of_one_task(table):
    alone = HoodieTable.open(table.base_path, engine=LocalEngine(1), clock=table.clock)
    alone.schedule(CLUSTERING, force=True)
    alone.run(CLUSTERING, SMALL_BLOOM)
    assert content(table) == CONTENT


@pytest.mark.parametrize(("layout", "method"), diagonal(("z-order", "hilbert"), ("direct", "sample")))
def test_rows_on_a_curve_are_near_each_other_in_both_columns(table, layout, method):
    side = 48
    rows = [(f"k{number:05}", "p", number // side, number % side) for number in range(side * side)]
    table.write(batch(rows[::2]), "insert", NO_SMALL_FILES)
    table.write(batch(rows[1::2]), "insert", NO_SMALL_FILES)
    before = meta(table)
    curve = {"hoodie.layout.optimize.strategy": layout, "hoodie.layout.optimize.curve.build.method": method}
    table.schedule(CLUSTERING, {PLAN + "sort.columns": "ts,value", **curve}, force=True)
    table.run(CLUSTERING, {"hoodie.memory.merge.max.size": 100_000, **SMALL_BLOOM})
    assert meta(table) == before
    (made,) = groups(table)
    stored = pa.parquet.read_table(f"{table.base_path}/{made.base_file.path}", columns=["ts", "value"]).to_pandas()[5:]
    spans = [
        stored[start : start + side].agg(lambda column: column.max() - column.min())
        for start in range(0, len(stored), side)
    ]
    assert sum(max(span) for span in spans) / len(spans) < side / 2, (
        "a row group of 48 rows is a patch, not a line of the grid"
    )


def test_sorted_files_have_small_row_groups(table, monkeypatch):
    monkeypatch.setattr(execute, "SORTED_ROW_GROUP", 2)
    sort = {PLAN + "sort.columns": "value"}
    for more, rows in (({"hoodie.parquet.block.size": 1 << 20}, [4]), ({}, [2, 2])):
        table.schedule(CLUSTERING, sort, force=True)
        table.run(CLUSTERING, {**SMALL_BLOOM, **more})
        (made,) = groups(table)
        found = pa.parquet.ParquetFile(f"{table.base_path}/{made.base_file.path}").metadata
        assert [found.row_group(number).num_rows for number in range(found.num_row_groups)] == rows
    assert content(table) == CONTENT


def test_a_file_that_fails_half_way_is_not_there(table, monkeypatch):
    time = table.schedule(CLUSTERING, {PLAN + "sort.columns": "value"}, force=True)

    def half(tables, order, memory):
        yield from (rows.slice(0, 1) for rows in tables)
        raise Killed

    monkeypatch.setattr("hoodie.services.clustering.task.sorted_rows", half)
    with pytest.raises(Killed):
        table.run(CLUSTERING, SMALL_BLOOM)
    assert not files_of(table, time)


def test_lost_rows_are_found_before_the_commit(table, monkeypatch):
    table.schedule(CLUSTERING, {PLAN + "sort.columns": "value"}, force=True)

    def lossy(tables, order, memory):
        yield from (rows.slice(0, 1) for rows in tables)

    monkeypatch.setattr("hoodie.services.clustering.task.sorted_rows", lossy)
    with pytest.raises(NotCommittedError, match="4 rows were read and 3 written"):
        table.run(CLUSTERING, SMALL_BLOOM)
    assert content(table) == CONTENT

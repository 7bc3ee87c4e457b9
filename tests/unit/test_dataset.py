"""A table as a data set of Arrow, in the engines that take one."""

from __future__ import annotations

import duckdb
import polars as pl
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.dataset import ChangeDataset, HoodieDataset
from hoodie.errors import ArgumentError, StaleSnapshotError
from hoodie.read.snapshot import plan_snapshot
from hoodie.read.stream import stream_rows
from hoodie.sql import connect
from tests.support.tables import batch, create


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": request.param})
    table.write(batch([(f"k{n}", "xy"[n % 2], 1, n) for n in range(20)]))
    table.write(batch([("k3", "y", 2, 300), ("k4", "x", 0, 400), ("new", "z", 1, 1)]), "upsert")
    table.write(batch([("k5", "y", 2, 0)]), "delete")
    return table


def test_duckdb(table):
    rows = HoodieDataset(table)  # noqa: F841 - DuckDB finds it by its name
    total, count = duckdb.execute("select sum(value), count(*) from rows").fetchall()[0]
    assert (total, count) == (sum(range(20)) - 3 + 300 - 5 + 1, 20)
    found = duckdb.execute("select id, value from rows where part = 'y' and value > 15 order by id").fetchall()
    assert found == [("k17", 17), ("k19", 19), ("k3", 300)]
    assert duckdb.execute("select count(*) from rows a join rows b using (id)").fetchall() == [(20,)]


def test_polars(table):
    rows = pl.scan_pyarrow_dataset(HoodieDataset(table))
    found = rows.filter((pl.col("part") == "y") & (pl.col("value") > 15)).select("id", "value").sort("id").collect()
    assert found.rows() == [("k17", 17), ("k19", 19), ("k3", 300)]


def test_changes(table):
    """They stay those of the table as it was, and each scan reads them again."""
    changes = ChangeDataset(table)
    expected = table.read_changes()
    table.write(batch([("k3", "y", 9, 9)]), "upsert")
    assert changes.to_table() == expected
    assert changes.count_rows(pc.field("op") == "d") == 1
    found = pl.scan_pyarrow_dataset(changes).filter(pl.col("op") == "u").select(pl.col("after").struct.field("value"))
    assert found.collect().rows() == [(300,)]
    with pytest.raises(ArgumentError, match="fragments"):
        changes.get_fragments()


def test_only_what_is_asked_for_is_read(table, monkeypatch):
    asked = []
    monkeypatch.setattr("hoodie.dataset.plan_snapshot", lambda *of: asked.append(of[1]) or plan_snapshot(*of))
    rows = HoodieDataset(table)  # noqa: F841 - DuckDB finds it by its name
    asked.clear()
    duckdb.execute("select id from rows where part = 'z'").fetchall()
    (query,) = asked
    assert list(query.columns) == ["id"]
    assert "part" in str(query.filter)


def test_it_stays_as_it_was(table):
    rows = HoodieDataset(table)
    table.write(batch([("k3", "y", 9, 9)]), "upsert")
    assert rows.to_table(filter=pc.field("id") == "k3")["value"].to_pylist() == [300]
    assert isinstance(rows, ds.Dataset)
    if table.properties.table_type == "MERGE_ON_READ":
        assert table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    assert HoodieDataset(table).to_table(["value"], pc.field("id") == "k3")["value"].to_pylist() == [9]


def supersede(table):
    """Two commits, and a clean that removes what was current before them."""
    for value in (8, 9):
        table.write(batch([(f"k{n}", "xy"[n % 2], value, value) for n in range(20)]), "upsert")
        if table.properties.is_merge_on_read:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted


def test_a_snapshot_that_a_clean_took_away_is_no_later_one(table, monkeypatch):
    """Two scans of one query would see two states."""
    rows = HoodieDataset(table)
    state, before = rows.state, rows.to_table().num_rows
    supersede(table)
    for scan in (rows.to_table, rows.count_rows, lambda: HoodieDataset(table, state=state)):
        with pytest.raises(
            StaleSnapshotError, match=rf"as it was at commit {state.timeline.last_commit.time}.*read it again"
        ):
            scan()
    assert isinstance(rows.failure, StaleSnapshotError)
    now = table.state()
    states = iter([state, now])
    monkeypatch.setattr(HoodieTable, "state", lambda _: next(states))
    again = HoodieDataset(table)  # the clean came between its look at the timeline and its plan
    assert (again.state, again.to_table().num_rows) == (now, before + 1)


def test_a_file_that_goes_while_it_is_read(table, monkeypatch):
    """A scan fails. A statement of SQL is run again, as a read is."""
    late = iter([1, 1])

    def overtaken(plan, *of):
        if next(late, None):
            supersede(table)
        yield from stream_rows(plan, *of)

    monkeypatch.setattr("hoodie.dataset.stream_rows", overtaken)
    with pytest.raises(StaleSnapshotError):
        HoodieDataset(table).to_table()
    with connect(table.base_path.rpartition("/")[0]) as db:
        assert db.sql("select max(value), count(*) from t where id <> 'none'").rows() == [(9, 21)]
    assert next(late, None) is None


def test_what_it_does_not_do_is_told(table):
    with pytest.raises(ArgumentError, match="columns made by expressions"):
        HoodieDataset(table).scanner({"double": pc.field("value") * 2})

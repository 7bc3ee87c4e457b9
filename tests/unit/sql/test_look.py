"""A statement sees each table in one state, also when others write between two of its looks."""

from __future__ import annotations

import pytest

from hoodie.dataset import HoodieDataset
from hoodie.sql import connect
from hoodie.table import HoodieTable
from tests.support.sql_tables import rows

_SELF = (
    "select a.price - b.price from t a join t b on a.id = b.id",
    "select a.price - b.price from t a join hudi_query('t', 'snapshot') b on a.id = b.id",
    "select a.price - b.price from (select * from t) a join (select id, price, _hoodie_commit_time from t) b on a.id = b.id",
    "select a.price - (select max(price) from t where id = a.id) from t a",
    "select a.price - b.price from hudi_table_changes('t', 'latest_state', 'earliest') b join t a on a.id = b.id",
)


@pytest.fixture
def written_beside(monkeypatch, db):
    """After each look at the table another process changes all of its prices."""
    state, prices = HoodieTable.state, iter(range(100, 200))

    def looked(table):
        found = state(table)
        if table.base_path.endswith("/t"):
            with monkeypatch.context() as alone, connect(table.base_path.rpartition("/")[0]) as other:
                alone.setattr(HoodieTable, "state", state)
                other.sql(f"update t set price = {next(prices)}")
        return found

    return lambda: monkeypatch.setattr(HoodieTable, "state", looked)


@pytest.mark.parametrize("query", _SELF)
def test_a_table_that_is_named_twice(db, written_beside, query):
    written_beside()
    assert set(rows(db, query)) == {(0.0,)}


def test_a_table_of_which_another_is_made(db, written_beside):
    written_beside()
    db.sql("create table u using hudi as select a.id, a.price as x, b.price as y from t a join t b on a.id = b.id")
    assert rows(db, "select count(*) from u where x <> y") == [(0,)]


def test_a_source_that_a_merge_asks_several_times(db, monkeypatch):
    """It asks for the columns of the source, and then for the rows."""
    db.sql("create table s using hudi tblproperties (primaryKey = 'id') as select 9 id, 'a' name, 1L ts, 'z' as dt")
    made = HoodieDataset.__init__

    def renamed_beside(dataset, table, *arguments, **more):
        made(dataset, table, *arguments, **more)
        if table.base_path.endswith("/s"):
            monkeypatch.setattr(HoodieDataset, "__init__", made)
            with connect(table.base_path.rpartition("/")[0]) as other:
                other.sql("alter table s rename column name to called")

    monkeypatch.setattr(HoodieDataset, "__init__", renamed_beside)
    inserted = "insert (id, name, ts, dt) values (s.id, s.name, s.ts, s.dt)"
    assert "1 inserted" in db.sql(f"merge into t using s on t.id = s.id when not matched then {inserted}").message
    assert rows(db, "select name from t where id = 9") == [("a",)]
    assert rows(db, "select called from s") == [("a",)]

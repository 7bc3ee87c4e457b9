"""Queries AS OF SOURCE that are refused before a server matters. Those of a server run in test_cut_queries.py."""

from __future__ import annotations

import pytest

from hoodie.errors import HoodieError, SqlError
from hoodie.sql import connect
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import Cut, CutStore, TablePlace
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sql.database_statements import DatabaseStatements


@pytest.fixture
def db(tmp_path):
    """Tables a and b of two servers, each with a cut after its first commit."""
    with connect(tmp_path, extensions=[DatabaseStatements(None, {})]) as connection:
        for table in ("a", "b"):
            connection.sql(
                f"create table {table} using hudi tblproperties (primaryKey = 'id') as select 1 as id, 5 as v"
            )
            [[instant]] = connection.sql(f"select _hoodie_commit_time from {table}").rows()
            states, server, path = open_storage(f"{tmp_path}/.servers"), f"shop_{table}", f"{tmp_path}/{table}"
            PlanStore(states, server).put(StoredPlan(1, paths={f"d.{table}": path}))
            places = {f"d.{table}": TablePlace(path, instant, "bin.1:4")}
            CutStore(states, server).put(Cut(1, "bin.1:4", "", "2026-01-31T12:00:00+00:00", places))
            connection.sql(f"update {table} set v = 6")
        yield connection


def test_a_query_reads_the_commit_of_the_cut(db):
    result = db.sql("select v, _hoodie_record_key from a as of source 'cut 1'")
    assert result.rows() == [(5, "1")]
    assert result.note == "as of cut 1 at bin.1:4, 2026-01-31T12:00:00+00:00, of shop_a"
    assert db.sql("with b as (select v from a) select a.v, b.v from a, b as of source 'cut 1'").rows() == [(5, 5)]


def test_queries_without_one_moment_are_refused(db):
    for text, words in (
        ("select * from a, b as of source 'cut 1'", r"share no moment.*shop_a .*shop_b "),
        ("select 1 as of source 'cut 1'", "reads no table"),
        ("select * from hudi_table_changes('a', 'latest_state', 'earliest') as of source 'cut 1'", "only for queries"),
        ("insert into a select * from b as of source 'cut 1'", "only for queries"),
        ("select * from nope as of source 'cut 1'", "nope"),
        ("select * from x.d.a as of source 'cut 1'", "not a table of the lake"),
    ):
        with pytest.raises(HoodieError, match=f"(?s){words}"):
            db.sql(text)
    with pytest.raises(SqlError, match="not a moment"):
        db.sql("select * from a as of source 'now'")

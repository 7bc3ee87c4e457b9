"""Queries AS OF SOURCE: tables of a server as its transactions had left them at a cut."""

from __future__ import annotations

import random

import pytest

from hoodie.errors import HoodieError, SqlError, TimeTravelError
from hoodie.sql import connect
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sql.database_statements import DatabaseStatements
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import server_rows

pytestmark = pytest.mark.process

TABLES = ("a", "b", "c1", "c2")
ROWS = """
    SELECT 'a' AS name, id, v FROM lake.demo.a
    UNION ALL SELECT 'b', x.id, x.v FROM demo.b x WHERE x.id IN (SELECT id FROM demo.b)
    UNION ALL SELECT _source_table, id, v FROM lake.other.c ORDER BY 1, 2 AS OF SOURCE '{}'"""


@pytest.fixture
def shop(server, tmp_path, request):
    """Three Hudi tables of four tables at the server: a connection, and a statement that brings them to the next cut."""
    name = f"moment_{request.node.name[5:30]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, v INT)" for table in TABLES),
        *(f"INSERT INTO {name}.{table} VALUES (1, 1)" for table in TABLES),
    )
    with connect(tmp_path, extensions=[DatabaseStatements(None, {"AIRFLOW_CONN_SHOP": server.url})]) as connection:
        connection.sql(
            "CREATE CATALOG shop WITH ('type'='mysql', 'connection'='shop', 'server-id'='5402', 'tls'='off');"
            f"CREATE CATALOG lake WITH ('type'='hudi', 'warehouse'='{tmp_path}');"
            f"CREATE DATABASE lake.demo WITH ('type'='MERGE_ON_READ') AS DATABASE shop.{name} INCLUDING TABLE 'a|b'"
        )
        yield name, connection, f"CREATE TABLE IF NOT EXISTS lake.other.c AS TABLE shop.{name}.`c[0-9]`"


def test_each_cut_has_the_rows_of_the_server_at_its_place(server, shop, tmp_path):
    name, db, sync = shop
    choose, kept = random.Random(7), {}
    for _ in range(4):
        connection = server.connection(name)
        for _ in range(5):
            with connection.cursor() as cursor:
                for table in choose.sample(TABLES, 3):
                    row = (choose.randrange(8), choose.randrange(99))
                    cursor.execute(f"DELETE FROM {table} WHERE id = {choose.randrange(8)}")
                    cursor.execute(f"INSERT INTO {table} VALUES {row} ON DUPLICATE KEY UPDATE v = {row[1]}")
            connection.commit()
        connection.close()
        db.sql(sync)
        number = len(kept) + 2
        kept[number] = [(table, *row) for table in TABLES for row in server_rows(server, name, table)]
    cuts = list(CutStore(open_storage(f"{tmp_path}/.servers"), "shop").newest_first())
    assert [cut.number for cut in cuts] == [5, 4, 3, 2, 1]
    for cut in cuts[:-1]:
        result = db.sql(ROWS.format(f"cut {cut.number}"))
        assert (result.rows(), result.note) == (
            kept[cut.number],
            f"as of cut {cut.number} at {cut.position}, {cut.gtid}, {cut.time}, of shop",
        )
    for moment in (cuts[2].position, cuts[2].gtid, cuts[2].time):
        assert db.sql(ROWS.format(moment)).rows() == kept[3]
    with pytest.raises(SqlError, match=r"The table other\.c was not loaded at cut 1"):
        db.sql(ROWS.format("cut 1"))


def test_tables_that_are_not_at_the_cut_are_refused_by_name(server, shop):
    name, db, sync = shop
    db.sql(sync)
    server.run(f"TRUNCATE {name}.c2", f"UPDATE {name}.a SET v = 2", f"UPDATE {name}.c1 SET v = 2")
    db.sql(sync)
    db.sql("CREATE TABLE own USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id")
    assert db.sql("SELECT a.v, b.v FROM demo.a JOIN demo.b USING (id) AS OF SOURCE 'cut 3'").rows() == [(2, 1)]
    for text, words in (
        ("SELECT * FROM other.c AS OF SOURCE 'cut 3'", rf"other\.c was behind at cut 3: {name}\.c2.*since .*TRUNCATE"),
        ("SELECT * FROM demo.a, own AS OF SOURCE 'cut 2'", r"No database server loads the table default\.own"),
        (f"SELECT * FROM shop.{name}.a AS OF SOURCE 'cut 2'", "not a table of the lake"),
        ("SELECT * FROM demo.a VERSION AS OF '2026' AS OF SOURCE 'cut 2'", "has a moment beside AS OF SOURCE"),
        ("DELETE FROM demo.a WHERE id = 1 AS OF SOURCE 'cut 2'", "only for queries"),
        ("SELECT * FROM demo.a AS OF SOURCE '1999-01-01'", "No cut of the server shop is that old"),
    ):
        with pytest.raises(HoodieError, match=f"(?s){words}"):
            db.sql(text)
    server.run(f"UPDATE {name}.a SET v = 3", f"UPDATE {name}.c1 SET v = 3")
    db.sql(sync)
    db.sql("CALL run_clean(table => 'other.c', retain_commits => 1)")
    with pytest.raises(TimeTravelError, match=r"(?s)cannot be read as of.*clean \d+ removed"):
        db.sql("SELECT * FROM other.c AS OF SOURCE 'cut 2'")
    newest = db.sql("SELECT max(_hoodie_commit_time) FROM demo.a AS OF SOURCE 'cut 4'").rows()[0][0]
    db.sql(f"CALL rollback_to_instant(table => 'demo.a', instant_time => '{newest}')")
    with pytest.raises(SqlError, match=f"does not have its commit {newest} of cut 4 any more"):
        db.sql("SELECT * FROM demo.a AS OF SOURCE 'cut 4'")

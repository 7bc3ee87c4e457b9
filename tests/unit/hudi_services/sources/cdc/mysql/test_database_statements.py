"""Whole databases by SQL: the statements load, go on, and say what they would do."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.metastore import MemoryMetastore
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process


@pytest.fixture
def lake(server, tmp_path, monkeypatch, capsys, request):
    """A database of two tables, and a function that runs a file of statements as `hudi-services sql` does."""
    name = f"said_{request.node.name[5:30]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, email VARCHAR(20))" for table in ("a", "b", "c1")),
        f"INSERT INTO {name}.a VALUES (1, 'x'), (2, 'y')",
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", server.url)
    monkeypatch.chdir(tmp_path)
    catalogs = (
        "CREATE CATALOG shop WITH ('type'='mysql', 'connection'='shop_db', 'server-id'='5401', 'tls'='off');\n"
        f"CREATE CATALOG lake WITH ('type'='hudi', 'warehouse'='{tmp_path}/lake');\n"
    )

    def run(text, registry=None, catalogs=catalogs):
        (tmp_path / "lake.sql").write_text(catalogs + text)
        place = ["--registry", registry] if registry else ["--warehouse", f"{tmp_path}/lake"]
        code = main(["sql", "-f", str(tmp_path / "lake.sql"), "--json", *place])
        printed = capsys.readouterr()
        rows = [json.loads(line) for line in printed.out.splitlines()] if code in (0, 3) else []
        return code, rows, printed.out + printed.err

    return name, run


def test_a_database_is_loaded_and_the_same_file_goes_on(server, lake, tmp_path):
    name, run = lake
    text = f"""CREATE DATABASE IF NOT EXISTS lake.demo WITH ('hoodie.parquet.max.file.size'='1000000') AS DATABASE shop.{name}
        EXCLUDING TABLE 'c.*' MASK (email AS mask) /*+ OPTIONS('type'='MERGE_ON_READ') */;
"""
    code, plan, _ = run("EXPLAIN " + text)
    assert [(row["target"], row["state"]) for row in plan] == [(f"{tmp_path}/lake/demo.db/{t}", "new") for t in "ab"]
    assert not (tmp_path / "lake").exists()
    code, counts, error = run(text)
    assert code == 0, error
    assert [(row["state"], row["tables"]) for row in counts] == [("current", 2)]
    server.run(f"INSERT INTO {name}.a VALUES (3, 'z')", f"INSERT INTO {name}.c1 VALUES (5, 'q')")
    code, counts, _ = run(text + "SELECT count(*) AS n FROM demo.a;")
    assert counts == [{"n": 3}]
    server.run(f"CREATE TABLE {name}.nokey (id INT)")
    code, counts, _ = run(text)
    assert (code, [(row["state"], row["tables"]) for row in counts]) == (3, [("current", 2), ("refused", 1)])
    assert "primary key" in counts[1]["first_reason"]
    server.run(f"DROP TABLE {name}.nokey")
    merged = f"CREATE TABLE IF NOT EXISTS lake.other.cs AS TABLE shop.{name}.`c[0-9]+` ADD COLUMN (n AS `id` + 1);"
    plan = run("EXPLAIN " + merged)[1][-1]
    assert (plan["target"], plan["columns"][-7:]) == (f"{tmp_path}/lake/other.db/cs", "n int32")
    hint = " /*+ OPTIONS('where'='no_such > 0') */;"
    assert "cannot be filtered by no_such > 0" in run("EXPLAIN " + merged.replace(";", hint))[1][-1]["columns"]
    merged = merged.replace(";", hint.replace("no_such > 0", "id <> 7"))
    server.run(f"INSERT INTO {name}.c1 VALUES (7, 'not there')")
    assert "'n' cannot be used: now()" in run(merged.replace("`id` + 1", "now()"))[2]
    code, _, error = run(merged)
    assert code == 0, error
    rows = lake_rows(f"{tmp_path}/lake/other.db/cs")
    assert {(*row[:2], row[-1]) for row in rows} == {(name, "c1", 6)}
    assert len(rows) == len(server_rows(server, name, "c1")) - 1
    merged = f"CREATE TABLE lake.other.g WITH ('global-keys'='true') AS TABLE shop.{name}.`b|c1`;"
    assert "No table of the server shop is one of" in run(merged)[2]  # other rules have them
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == [(number, "***") for number in (1, 2, 3)]


def test_a_database_is_loaded_into_a_metastore(server, lake, tmp_path):
    """Its tables are entered after their first commit, and after changes of their columns."""
    name, run = lake
    metastore = MemoryMetastore(tmp_path)
    catalogs = (
        "CREATE CATALOG shop WITH ('type'='mysql', 'connection'='shop_db', 'server-id'='5401', 'tls'='off');\n"
        f"CREATE CATALOG hive WITH ('type'='hudi', 'metastore'='{metastore.uri}', 'warehouse'='{tmp_path}/w');\n"
    )
    text = f"CREATE DATABASE IF NOT EXISTS hive.demo AS DATABASE shop.{name} INCLUDING TABLE 'a|b';"
    try:
        plan = run("EXPLAIN " + text, catalogs=catalogs)[1]
        assert [row["target"] for row in plan] == [f"{tmp_path}/w/demo.db/{table}" for table in "ab"]
        assert list(metastore.databases) == ["default"]
        metastore.broken.add("create_table")
        code, _, error = run(text, catalogs=catalogs)
        assert (code, sorted(metastore.tables)) == (3, [])
        assert "Table demo.a is not registered" in error
        assert len(lake_rows(f"{tmp_path}/w/demo.db/a")) == 2, "the rows are there"
        metastore.broken.clear()
        code, rows, error = run(text + "SELECT count(*) AS n FROM hive.demo.a;", catalogs=catalogs)
        assert (code, rows) == (0, [{"n": 2}]), error
        assert sorted(metastore.tables) == [("demo", "a"), ("demo", "b")]
        server.run(f"ALTER TABLE {name}.a ADD COLUMN note VARCHAR(20)", f"INSERT INTO {name}.a VALUES (3, 'z', 'n')")
        code, _, error = run(text, catalogs=catalogs)
        assert code == 0, error
        assert "note" in [field.name for field in metastore.tables["demo", "a"].sd.cols]
    finally:
        metastore.stop()


def test_each_table_of_a_database_gets_added_columns(server, lake, tmp_path):
    """The rows are those of the condition, and both are the same by snapshots, by changes and after a resync."""
    name, run = lake
    text = f"""CREATE DATABASE IF NOT EXISTS lake.demo WITH ('where'='id < 10') AS DATABASE shop.{name} INCLUDING TABLE 'a|b'
        INCLUDING COLUMNS (ID, email) ADD COLUMN (twice AS id * 2, mail AS upper(`email`));
"""
    plan = run("EXPLAIN " + text)[1]
    assert [row["columns"] for row in plan[:2]] == ["id int32, email string, twice int32, mail string"] * 2
    assert "'twice' cannot be used" in run("EXPLAIN " + text.replace("id * 2", "no_such * 2"))[1][-1]["columns"]
    assert "random" in run("EXPLAIN " + text.replace("id * 2", "random()"))[2]
    server.run(f"INSERT INTO {name}.a VALUES (20, 'out')")
    assert "the key" in run("EXPLAIN " + text.replace("(ID, email)", "(email)"))[1][-1]["columns"]
    assert run(text)[0] == 0
    server.run(
        f"INSERT INTO {name}.b VALUES (3, 'z'), (30, 'out')",
        f"ALTER TABLE {name}.a ADD hidden INT",
        f"UPDATE {name}.a SET id = 4 WHERE id = 20",
        f"UPDATE {name}.a SET id = 21 WHERE id = 1",
    )
    assert run(text)[0] == 0
    rows = [(2, "y", 4, "Y"), (4, "out", 8, "OUT")]
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == rows
    assert lake_rows(f"{tmp_path}/lake/demo.db/b") == [(3, "z", 6, "Z")]
    table = HoodieTable.open(f"{tmp_path}/lake/demo.db/a")
    table.write(pa.table({"id": pa.array([2], pa.int32()), "twice": pa.array([0], pa.int32())}), "upsert", SMALL_BLOOM)
    source = f"shop.{name}.a"
    assert run(f"VERIFY TABLE {source};")[0] == 3
    assert run(f"RESYNC TABLE {source};")[0] == 0
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == rows


def test_tables_are_added_to_what_is_loaded(server, lake, tmp_path):
    name, run = lake
    load = f"CREATE DATABASE IF NOT EXISTS lake.demo AS DATABASE shop.{name} INCLUDING TABLE 'a';\n"
    add = "ALTER DATABASE lake.demo ADD TABLE 'b' ADD TABLE 'c[0-9]';"
    assert "No statement of these catalogs loads lake.demo" in run(add)[2]
    assert run(load)[0] == 0
    plan = run("EXPLAIN " + add)[1]
    assert [row["state"] for row in plan[:3]] == ["runs", "new", "new"]
    assert not (tmp_path / "lake/demo.db/b").exists()
    assert run(add)[1][0]["tables"] == 3
    assert "is no regular expression" in run("ALTER DATABASE lake.demo ADD TABLE '(';")[2]
    assert "is one of zz" in run("ALTER DATABASE lake.demo ADD TABLE 'zz';")[2]
    assert "No statement of these catalogs loads lake.demo.c" in run("ALTER TABLE lake.demo.c ADD TABLE 'c2';")[2]
    server.run(f"INSERT INTO {name}.b VALUES (1, 'x')", f"CREATE TABLE {name}.c2 (id INT PRIMARY KEY)")
    assert run("ALTER DATABASE lake.demo ADD TABLE 'b';")[1][0]["tables"] == 4
    assert lake_rows(f"{tmp_path}/lake/demo.db/b") == [(1, "x")]


def test_shards_are_added_to_a_table(server, lake, tmp_path):
    name, run = lake
    server.run(f"CREATE TABLE {name}.d1 LIKE {name}.a", f"INSERT INTO {name}.d1 VALUES (8, 'd')")
    assert run(f"CREATE TABLE lake.other.cs AS TABLE shop.{name}.c1;")[0] == 0
    code, _, error = run("ALTER TABLE lake.other.cs ADD TABLE 'd[0-9]';")
    assert code == 0, error
    assert lake_rows(f"{tmp_path}/lake/other.db/cs") == [(name, "d1", 8, "d")]


def test_a_registry_with_the_same_rule_goes_on(server, lake, tmp_path, capsys, monkeypatch):
    name, run = lake
    file = tmp_path / "tables.yaml"
    declared = (
        f"servers:\n  bench: {{type: mysql, connection: shop_db, tls: off, server_id: 5401, state: {tmp_path}/state}}\n"
    )
    file.write_text(declared)
    catalogs = "CREATE CATALOG shop WITH ('type'='mysql', 'server'='bench');"
    catalogs += f"CREATE CATALOG lake WITH ('type'='hudi', 'warehouse'='{tmp_path}/lake');"
    text = f"CREATE DATABASE lake.demo AS DATABASE shop.{name}; "
    assert run(text, str(file), catalogs)[1][0]["tables"] == 3
    assert "IF NOT EXISTS" in run(text, str(file), catalogs)[2]
    file.write_text(
        f"{declared}databases:\n  - {{server: bench, database: {name}, base_path: '{tmp_path}/lake/demo.db/{{table}}'}}\n"
    )
    routes = run("SHOW ROUTES IN bench;", str(file), "")[1]
    assert [row["source"] for row in routes] == [f"bench.{name}.{table}" for table in ("a", "b", "c1")]
    server.run(f"DELETE FROM {name}.a WHERE id = 1")
    assert main(["cdc", "sync", "bench", "--registry", str(file)]) == 0
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == server_rows(server, name, "a")


def test_routes_are_listed_and_a_parked_table_is_resumed(server, lake, tmp_path):
    name, run = lake
    text = f"CREATE DATABASE IF NOT EXISTS lake.demo AS DATABASE shop.{name} INCLUDING TABLE 'a|b';"
    assert run("SHOW ROUTES;")[1] == []
    create(tmp_path / "lake/demo.db/a").write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    assert run(text)[0] == 3
    source, target = f"shop.{name}.a", f"{tmp_path}/lake/demo.db/a"
    first, second = run("SHOW ROUTES IN shop;")[1]
    assert (first["source"], first["target"], first["state"], first["position"]) == (source, target, "parked", "")
    assert "holds other rows" in first["reason"]
    assert (second["state"], second["reason"], second["position"] != "") == ("current", "", True)
    shutil.rmtree(target)
    assert [row["state"] for row in run(text)[1]] == ["current", "parked"]
    assert f"the next run tries {name}.a again" in run("RESUME TABLE lake.demo.a;")[2]
    assert run("SHOW ROUTES;")[1][0]["state"] == "parked"
    assert [(row["state"], row["rows"]) for row in run(text)[1]] == [("current", 2)]
    assert f"nothing to resume: {name}.b is current" in run(f"RESUME TABLE shop.{name}.`b`;")[2]
    error = run("RESUME TABLE lake.demo.aa;")[2]
    assert ("No server loads a table lake.demo.aa" in error, "lake.demo.a, " in error) == (True, True), error
    assert "There is no server shp. Found: shop" in run("SHOW ROUTES IN shp;")[2]


def test_a_table_of_a_statement_is_verified_and_made_equal(server, lake, tmp_path):
    name, run = lake
    assert run(f"CREATE DATABASE lake.demo AS DATABASE shop.{name} EXCLUDING TABLE 'c.*';")[0] == 0
    server.run(f"INSERT INTO {name}.a VALUES (3, 'z')")
    code, [row], _ = run("VERIFY TABLE lake.demo.a;")
    assert (code, row["source"], row["equal"], row["rows"], row["lake_rows"]) == (0, f"shop/{name}.a", True, 3, 3)
    HoodieTable.open(f"{tmp_path}/lake/demo.db/a").write(
        pa.table({"id": pa.array([1], pa.int32())}), "delete", SMALL_BLOOM
    )
    code, [row], _ = run("VERIFY TABLE lake.demo.a;")
    assert (code, row["equal"], row["missing"], row["written"]) == (3, False, 1, 0)
    code, [row], _ = run(f"RESYNC TABLE shop.{name}.a;")
    assert (code, row["equal"], row["missing"], row["written"]) == (0, True, 1, 1)
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == server_rows(server, name, "a")
    assert "No server loads a table lake.demo.c" in run("VERIFY TABLE lake.demo.c;")[2]
    assert run(f"CREATE TABLE lake.demo.cs AS TABLE shop.{name}.`c[0-9]+`;")[0] == 0
    server.run(f"INSERT INTO {name}.c1 VALUES (1, 'x'), (2, 'y')")
    code, [row], _ = run("VERIFY TABLE lake.demo.cs;")
    assert (code, row["source"], row["equal"], row["rows"], row["lake_rows"]) == (0, f"shop/{name}.c1", True, 2, 2)
    server.run("SET SESSION sql_log_bin = 0", f"DELETE FROM {name}.c1 WHERE id = 2")
    code, [row], _ = run("RESYNC TABLE lake.demo.cs;")
    assert (code, row["source"], row["equal"], row["surplus"], row["written"]) == (0, f"shop/{name}.c1", True, 1, 1)
    assert run("VERIFY TABLE lake.demo.cs;")[0] == 0
    lake = HoodieTable.open(f"{tmp_path}/lake/demo.db/cs")
    lake.write(lake.read(filter="id = 1"), "delete", SMALL_BLOOM)
    code, [row], _ = run("VERIFY TABLE lake.demo.cs;")
    assert (code, row["equal"], row["missing"], row["reason"]) == (3, False, 1, "")
    server.run(f"TRUNCATE {name}.c1")
    code, [row], _ = run("VERIFY TABLE lake.demo.cs;")
    assert (code, row["equal"], row["rows"]) == (3, False, 0), "a table that was not compared is not equal"
    assert "not compared: it is behind" in row["reason"]


def test_a_skipped_table_is_left_out_until_it_is_resumed(server, lake, tmp_path):
    name, run = lake
    text = f"CREATE DATABASE IF NOT EXISTS lake.demo AS DATABASE shop.{name} EXCLUDING TABLE 'c.*';"
    assert run(text)[0] == 0
    run("SKIP TABLE lake.demo.a;")
    change = f"INSERT INTO {name}.{{0}} SELECT COALESCE(MAX(id), 0) + 1, 'q' FROM {name}.{{0}}"
    for _ in range(2):
        server.run(change.format("a"), change.format("b"))
        code, counts, _ = run(text)
        assert (code, [(row["state"], row["tables"], row["changes"]) for row in counts]) == (
            0,
            [("current", 1, 1), ("skipped", 1, 0)],
        )
    skipped, current = run("SHOW ROUTES;")[1]
    assert (skipped["state"], current["state"]) == ("skipped", "current")
    assert skipped["position"] < current["position"]
    assert len(lake_rows(f"{tmp_path}/lake/demo.db/a")) == 2
    run("RESUME TABLE lake.demo.a;")
    assert [(row["state"], row["changes"]) for row in run(text)[1]] == [("current", 2)]
    assert lake_rows(f"{tmp_path}/lake/demo.db/a") == server_rows(server, name, "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE DATABASE lake.x AS DATABASE nothing.{name};", "no catalog nothing"),
        ("CREATE DATABASE x AS DATABASE shop.{name};", "no catalog x"),
        (
            "CREATE DATABASE lake.x AS DATABASE shop.{name} INCLUDING TABLE 'zz';",
            "No table of the server shop is one of",
        ),
        ("CREATE DATABASE lake.x AS DATABASE shop.{name} INCLUDING TABLE '(';", "is no regular expression"),
        ("CREATE DATABASE lake.x WITH ('nope'='1') AS DATABASE shop.{name};", "'nope'"),
        ("CREATE DATABASE lake.x.y AS DATABASE shop.{name};", "other than 2 parts"),
        ("CREATE CATALOG shop WITH ('type'='mysql');", "There is a catalog shop"),
    ],
)
def test_mistakes_are_named_before_anything_runs(lake, tmp_path, text, words):
    name, run = lake
    code, _, error = run(text.format(name=name))
    assert (code != 0, words in error) == (True, True), error
    assert not (tmp_path / "lake").exists()
    assert run("DROP CATALOG shop; SHOW CATALOGS;")[1] == [{"catalog": "lake"}]

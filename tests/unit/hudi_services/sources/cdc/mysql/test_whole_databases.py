"""Rules of a registry against a server: planned, loaded, and extended by tables that come later."""

from __future__ import annotations

import json

import pytest

from hoodie import HoodieTable
from hoodie.storage import open_storage
from hoodie_airflow.databases import HudiDatabaseOperator
from hudi_services.cli.program import main
from hudi_services.sources.databases.requests import RequestStore
from tests.support.airflow_task import context
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process


@pytest.fixture
def shop(server, tmp_path, monkeypatch, capsys, request):
    """A database of two tables, and functions that write the rules of its registry and run `hudi-services cdc`."""
    name = f"whole_{request.node.name[5:40]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, email VARCHAR(20))" for table in ("a", "b")),
        f"INSERT INTO {name}.a VALUES (1, 'x'), (2, 'y')",
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
    monkeypatch.setenv("HUDI_REGISTRY", str(tmp_path / "tables.yaml"))

    def rules(*rules, tables="[]"):
        listed = "\n".join(f"  - {{server: shop, {rule}}}" for rule in rules)
        (tmp_path / "tables.yaml").write_text(
            "servers:\n"
            f"  shop: {{type: mysql, connection: shop, tls: off, server_id: 5401, state: {tmp_path}/state}}\n"
            f"databases:\n{listed}\ntables: {tables}\n"
        )

    def run(*arguments):
        code = main(["cdc", *arguments, "--json"])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else printed.err

    return name, rules, run


def states(answer):
    return {row["table"].rpartition(".")[2]: row["state"] for row in answer["tables"]}


def test_a_plan_is_printed_then_loaded_and_new_tables_join(server, shop, tmp_path):
    name, rules, run = shop
    rules(f"database: {name}, excluding: 'x.*', base_path: '{tmp_path}/lake/{{table}}', type: MERGE_ON_READ")
    server.run(f"CREATE TABLE {name}.x1 (id INT PRIMARY KEY)", f"CREATE TABLE {name}.nokey (id INT)")
    code, plan = run("plan", "shop")
    assert (code, [route["base_path"] for route in plan["routes"]]) == (1, [f"{tmp_path}/lake/a", f"{tmp_path}/lake/b"])
    assert plan["routes"][0]["columns"] == {"id": "int32", "email": "string"}
    assert [one["source"] for one in plan["refused"]] == [f"{name}.nokey"]
    assert (plan["estimate"]["tables"], plan["estimate"]["connections"]) == (2, 5)
    assert [one for one in plan["preflight"] if one["state"] == "missing"] == []
    server.run(
        f"CREATE TABLE {name}.x2 (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES {name}.x1 (id) ON DELETE CASCADE)"
    )
    rules(f"database: {name}, tables: 'x2', base_path: '{tmp_path}/x/{{table}}'")
    code, cascading = run("plan", "shop")
    assert (code, [one["name"] for one in cascading["preflight"] if one["state"] == "missing"]) == (1, [f"{name}.x2"])
    rules(f"database: {name}, excluding: 'x.*', base_path: '{tmp_path}/lake/{{table}}', type: MERGE_ON_READ")
    assert not (tmp_path / "state").exists()
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (1, {"a": "current", "b": "current", "nokey": "refused"})
    server.run(
        f"DROP TABLE {name}.nokey",
        f"CREATE TABLE {name}.c (id INT PRIMARY KEY, v INT)",
        f"INSERT INTO {name}.c VALUES (7, 7)",
        f"UPDATE {name}.a SET email = 'z'",
    )
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (0, {"a": "current", "b": "current", "c": "current"})
    for table in ("a", "c"):
        assert lake_rows(f"{tmp_path}/lake/{table}") == server_rows(server, name, table)
    assert HoodieTable.open(f"{tmp_path}/lake/a").state().properties.is_merge_on_read
    assert run("status", "shop")[1]["tables"][2]["base_path"] == f"{tmp_path}/lake/c"


def test_tables_of_a_second_server_entry_commit_at_times_of_their_own(server, shop, tmp_path, capsys):
    name, rules, run = shop
    rules(f"database: {name}, excluding: b, base_path: '{tmp_path}/lake/{{table}}'")
    registry = tmp_path / "tables.yaml"
    text = registry.read_text()
    text = text.replace(
        "databases:",
        f"  slow: {{type: mysql, connection: shop, tls: off, server_id: 5402, state: {tmp_path}/slow}}\ndatabases:",
    )
    rule = f"  - {{server: slow, database: {name}, tables: b, base_path: '{tmp_path}/lake/{{table}}'}}\n"
    registry.write_text(text.replace("tables: []", rule + "tables: []"))
    assert main(["registry", "check", str(registry)]) == 0
    capsys.readouterr()
    assert states(run("sync", "shop")[1]) == {"a": "current"}
    assert states(run("sync", "slow")[1]) == {"b": "current"}
    server.run(f"INSERT INTO {name}.a VALUES (3, 'z')", f"INSERT INTO {name}.b VALUES (1, 'late')")
    assert states(run("sync", "shop")[1]) == {"a": "current"}
    assert lake_rows(f"{tmp_path}/lake/a") == server_rows(server, name, "a")
    assert lake_rows(f"{tmp_path}/lake/b") == []
    assert states(run("sync", "slow")[1]) == {"b": "current"}
    assert lake_rows(f"{tmp_path}/lake/b") == server_rows(server, name, "b")


def test_routes_that_change_are_refused_by_name_until_they_are_accepted(server, shop, tmp_path):
    name, rules, run = shop
    rules(f"database: {name}, base_path: '{tmp_path}/lake/{{table}}'")
    assert run("sync", "shop")[0] == 0
    rules(f"database: {name}, tables: a, base_path: '{tmp_path}/new/{{table}}'")
    code, error = run("sync", "shop")
    assert (code, f"{name}.a: it was loaded into {tmp_path}/lake/a until now" in error["found"]) == (2, True), error
    code, plan = run("plan", "shop")
    assert [(one["source"], one["kind"]) for one in plan["refused"]] == [(f"{name}.a", "moved"), (f"{name}.b", "left")]
    assert run("plan", "shop", "--accept")[0] == 0
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (0, {"a": "current"})
    assert lake_rows(f"{tmp_path}/new/a") == lake_rows(f"{tmp_path}/lake/a") == server_rows(server, name, "a")


def test_masks_of_a_rule_hold_for_columns_that_come_later_and_with_other_capitals(server, shop, tmp_path):
    name, rules, run = shop
    server.run(
        f"CREATE TABLE {name}.c (id INT PRIMARY KEY, EMAIL VARCHAR(20))", f"CREATE TABLE {name}.d (id INT PRIMARY KEY)"
    )
    server.run(f"INSERT INTO {name}.c VALUES (1, 'x')")
    rules(f"database: {name}, base_path: '{tmp_path}/lake/{{table}}', masks: {{email: mask}}")
    assert run("sync", "shop")[0] == 0
    server.run(f"ALTER TABLE {name}.d ADD Email VARCHAR(20)", f"INSERT INTO {name}.d VALUES (1, 'x')")
    assert run("sync", "shop")[0] == 0
    rows = [lake_rows(f"{tmp_path}/lake/{table}") for table in ("a", "c", "d")]
    assert rows == [[(1, "***"), (2, "***")], [(1, "***")], [(1, "***")]]


def test_the_dag_of_a_server_says_which_tables_of_rules_changed(shop, tmp_path):
    name, rules, _ = shop
    entry = f"{{name: b, base_path: '{tmp_path}/b', source: {{server: shop, table: {name}.b}}}}"
    rules(f"database: {name}, base_path: '{tmp_path}/lake/{{table}}'", tables=f"[{entry}]")
    run = context()
    HudiDatabaseOperator(task_id="sync", server="shop", file=str(tmp_path / "tables.yaml")).execute(run)
    names = sorted(asset.name for _, asset, _ in run["outlet_events"].added)
    assert names == ["hudi.b", "hudi.database.shop.cuts", f"hudi.shop.{name}.a"]


def test_a_table_of_a_rule_is_loaded_and_verified_by_its_name(server, shop, tmp_path):
    name, rules, run = shop
    rules(
        f"database: {name}, base_path: '{tmp_path}/lake/{{table}}'",
        tables=f"[{{name: own, base_path: {tmp_path}/own}}]",
    )
    assert "its rules have no table 'own2'" in run("verify", "--table", "own2")[1]["what"]
    assert run("load", "--table", f"shop.{name}.a")[1]["rows"] == 2
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (0, {"a": "current", "b": "current"})
    server.run(f"DELETE FROM {name}.a WHERE id = 1")
    code, report = run("verify", "--table", f"{name}.a")
    assert (code, report["equal"], report["rows"]) == (0, True, 1)
    assert run("resync", "--table", f"shop.{name}.b")[1]["written"] == 0
    code, error = run("resync", "--table", f"shop.{name}.aa")
    assert (code, error["found"].split(", ")[0]) == (2, f"{name}.a")
    error = run("load", "--table", f"{name}.aa")[1]
    assert (f"no table '{name}.aa'" in error["what"], error["found"]) == (True, f"shop.{name}.a, shop.{name}.b")
    assert "own is not loaded from a database server" in run("load", "--table", "own")[1]["what"]
    server.run(f"CREATE TABLE {name}.nokey (id INT)")
    assert "neither a primary key" in run("load", "--table", f"shop.{name}.nokey")[1]["found"]


def test_a_new_table_that_is_skipped_waits_for_resume_of_the_command(server, shop, tmp_path):
    name, rules, run = shop
    rules(f"database: {name}, base_path: '{tmp_path}/lake/{{table}}'")
    RequestStore(open_storage(f"{tmp_path}/state"), "shop").skip(frozenset({f"{name}.a"}))
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (0, {"a": "skipped", "b": "current"})
    code, status = run("status", "shop")
    assert (code, states(status)) == (0, {"a": "skipped", "b": "current"})
    code, synced = run("sync", "shop", "--resume", f"{name}.a")
    assert (code, states(synced)) == (0, {"a": "current", "b": "current"})
    assert lake_rows(f"{tmp_path}/lake/a") == server_rows(server, name, "a")
    assert states(run("status", "shop")[1]) == {"a": "current", "b": "current"}


def test_an_entry_with_a_mistake_is_refused_by_name_and_no_rule_takes_its_table(server, shop, tmp_path):
    name, rules, run = shop
    entry = f"{{name: own, base_path: {tmp_path}/own, source: {{server: shop, table: {name}.a}}%s}}"
    rule = f"database: {name}, base_path: '{tmp_path}/lake/{{table}}'"
    rules(rule, tables=f"[{entry % ''}]")
    assert run("sync", "shop")[0] == 0
    rules(rule, tables=f"[{entry % ', hoodie: {hoodie.clean.automatic: true}'}]")
    server.run(f"INSERT INTO {name}.b VALUES (5, 'z')")
    code, synced = run("sync", "shop")
    assert (code, states(synced)) == (1, {"a": "refused", "b": "current"})
    assert "its entry has a mistake" in synced["tables"][0]["reason"]
    assert not (tmp_path / "lake/a").exists()
    assert lake_rows(f"{tmp_path}/lake/b") == server_rows(server, name, "b")
    code, status = run("status", "shop")
    assert (code, states(status)) == (1, {"a": "refused", "b": "current"})
    code, error = run("verify", "--table", f"{name}.a")
    assert (code, error["error"]) == (2, "ConfigError"), error
    rules(rule, tables=f"[{(entry % '').replace('table:', 'tabel:')}]")
    code, error = run("sync", "shop")
    assert (code, error["error"]) == (1, "RegistryError"), error


def test_a_merged_table_is_verified_by_a_table_or_by_its_path(server, shop, tmp_path):
    name, rules, run = shop
    path = f"{tmp_path}/lake/all"
    rules(f"database: {name}, merge: true, base_path: '{path}'")
    assert run("sync", "shop")[0] == 0
    code, report = run("verify", "--table", f"shop.{name}.a")
    assert (code, report["equal"], report["rows"], list(report["tables"])) == (0, True, 2, [f"{name}.a"])
    server.run("SET SESSION sql_log_bin = 0", f"INSERT INTO {name}.a VALUES (9, 'not in the log')")
    code, report = run("verify", "--table", path)
    assert (code, report["equal"], report["missing"], sorted(report["tables"])) == (
        1,
        False,
        1,
        [f"{name}.a", f"{name}.b"],
    )
    code, report = run("verify", "--table", f"{name}.a", "--repair")
    assert (code, report["equal"], report["written"]) == (0, True, 1)
    assert run("verify", "--table", path)[0] == 0
    server.run(f"TRUNCATE {name}.a")
    assert run("sync", "shop")[0] == 1
    code, report = run("resync", "--table", f"shop.{name}.a")
    assert (code, report["equal"], report["surplus"], list(report["tables"])) == (0, True, 3, [f"{name}.a"])
    assert run("sync", "shop")[0] == 0
    assert (run("resync", "--table", path)[1]["written"], run("verify", "--table", path)[0]) == (0, 0)
    code, error = run("load", "--table", f"{name}.a")
    assert f"cdc verify --table {path} --repair" in error["fix"]
    assert main(["cdc", "verify", "--table", path]) == 0

"""Tables of a registry that are loaded from a server: by command, and by the server's DAG."""

from __future__ import annotations

import json

import pytest
from airflow.sdk.exceptions import AirflowFailException

from hoodie.clock import SystemClock
from hoodie.storage import open_storage
from hoodie_airflow.databases import HudiDatabaseOperator, HudiTablesBehindOperator, database_dags
from hudi_services.cli.program import main
from hudi_services.local_airflow.registry_summary import dags_of
from hudi_services.registry.load import read_registry
from hudi_services.runtime.pause import pause, resume
from tests.support.airflow_task import context
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process


@pytest.fixture
def shop(server, tmp_path, monkeypatch, capsys, request):
    """A database with two tables, its registry, and a function that runs `hudi-services cdc` and returns code and output."""
    name = f"reg_{request.node.name[:40]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, v INT)" for table in ("orders", "items")),
        f"INSERT INTO {name}.orders VALUES (1, 1), (2, 2)",
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
    monkeypatch.setenv("HUDI_REGISTRY", str(tmp_path / "tables.yaml"))
    (tmp_path / "tables.yaml").write_text(
        f"""
servers:
  shop:
    {{type: mysql, connection: shop, tls: off, server_id: 5401, state: {tmp_path}/state, schedule: "*/5 * * * *"}}
tables:
  - {{name: orders, base_path: {tmp_path}/orders, source: {{server: shop, table: {name}.orders}}}}
  - {{name: items, base_path: {tmp_path}/items, type: MERGE_ON_READ, source: {{server: shop, table: {name}.items}}}}
"""
    )

    def run(*arguments):
        code = main(["cdc", *arguments])
        return code, capsys.readouterr()

    return name, run


def test_the_command_brings_all_tables_of_the_server_up_to_date(server, shop, tmp_path):
    name, run = shop
    code, printed = run("status", "shop")
    assert (code, "cdc sync shop` has not run" in printed.out, "new" in printed.out) == (0, True, True)
    code, printed = run("sync", "shop")
    assert code == 0, printed.err
    server.run(f"UPDATE {name}.orders SET v = 3 WHERE id = 1", f"TRUNCATE {name}.items")
    code, printed = run("sync", "shop", "--json")
    tables = {row["table"].rpartition(".")[2]: row for row in json.loads(printed.out)["tables"]}
    assert (code, tables["orders"]["changes"], tables["items"]["state"]) == (1, 1, "parked")
    assert lake_rows(str(tmp_path / "orders")) == server_rows(server, name, "orders")
    code, printed = run("status", "shop")
    assert code == 1
    assert "TRUNCATE" in printed.out
    values = json.loads(run("status", "shop", "--json")[1].out)
    assert values["log"]["position"] == values["tables"][0]["position"]  # where the parked table goes on
    assert (values["lag"]["tables"], values["running"], values["tables"][0]["name"]) == (2, None, "items")
    first, second = reversed(json.loads(run("cuts", "shop", "--json")[1].out)["cuts"])
    assert (first["cut"], first["tables"], second["behind"]) == (1, 2, [f"{name}.items"])
    assert second["gtid"].startswith("0-") if server.name == "mariadb" else ":1-" in second["gtid"]
    assert second["position"] in run("cuts", "shop")[1].out
    code, printed = run("sync", "shop", "--resume", f"{name}.orders", "--resume", "x.y")
    assert (code, "loads no table 'x.y' from shop" in printed.err) == (2, True)


def test_a_paused_table_is_left_out_until_the_pause_ends(server, shop, tmp_path):
    name, run = shop
    assert run("sync", "shop")[0] == 0
    storage = open_storage(str(tmp_path / "orders"))
    pause(storage, SystemClock(), "ann", "a bad load is taken back")
    before = lake_rows(str(tmp_path / "orders"))
    server.run(*(f"INSERT INTO {name}.{table} VALUES (7, 7)" for table in ("orders", "items")))
    code, printed = run("sync", "shop", "--json", "--resume", f"{name}.orders", "--start-fresh")
    tables = {row["table"].rpartition(".")[2]: row["state"] for row in json.loads(printed.out)["tables"]}
    assert (code, tables) == (0, {"orders": "skipped", "items": "current"})
    assert "by ann since" in run("status", "shop")[1].out
    code, printed = run("load", "--table", "orders")
    assert (code, "TablePausedError" in printed.err) == (1, True)
    assert lake_rows(str(tmp_path / "orders")) == before
    resume(storage)
    code, printed = run("sync", "shop", "--json")
    (orders,) = [row for row in json.loads(printed.out)["tables"] if row["table"].endswith("orders")]
    assert (code, orders["state"], orders["rows"]) == (0, "current", 3), "all rows again, as it was asked for"
    assert lake_rows(str(tmp_path / "orders")) == server_rows(server, name, "orders")


def test_policies_of_the_registry_and_of_the_command_have_their_effect(server, shop, tmp_path):
    name, run = shop
    file = tmp_path / "tables.yaml"
    file.write_text(file.read_text().replace(f"{name}.items}}", f"{name}.items, statements: {{truncate: apply}}}}"))
    assert run("sync", "shop")[0] == 0
    server.run(
        *(f"INSERT INTO {name}.{table} VALUES (7, 7)" for table in ("orders", "items")),
        *(f"TRUNCATE {name}.{table}" for table in ("orders", "items")),
        f"INSERT INTO {name}.items VALUES (8, 8)",
    )
    code, printed = run("sync", "shop", "--json")
    tables = {row["table"].rpartition(".")[2]: row["state"] for row in json.loads(printed.out)["tables"]}
    assert (code, tables) == (1, {"orders": "parked", "items": "current"})
    assert lake_rows(str(tmp_path / "items")) == [(8, 8)]
    load = ("load", "shop", f"{name}.orders", "--target-base-path", str(tmp_path / "orders"))
    code, printed = run(*load)
    assert (code != 0, "--on-truncate" in printed.err) == (True, True)
    assert run(*load, "--on-truncate", "ignore")[0] == 0
    assert len(lake_rows(str(tmp_path / "orders"))) == 3
    server.run(f"ALTER TABLE {name}.orders ADD w INT DEFAULT 5", f"INSERT INTO {name}.orders VALUES (9, 9, 9)")
    assert run(*load, "--on-truncate", "apply", "--on-alter", "apply")[0] == 0
    assert lake_rows(str(tmp_path / "orders")) == [(9, 9, 9)]
    assert run("sync", "shop", "--resume", f"{name}.orders")[0] == 0


def test_the_dag_of_a_server_says_which_tables_changed_and_which_are_behind(server, shop, tmp_path):
    name, _ = shop
    file = tmp_path / "tables.yaml"
    dag, *_ = database_dags(file)
    assert dag.dag_id in dags_of(read_registry(file))
    assert [task.task_id for task in dag.tasks] == ["sync", "behind", "services"]
    operator = HudiDatabaseOperator(task_id="sync", server="shop", file=str(file))
    run = context()
    result = operator.execute(run)
    assert json.loads(json.dumps(result))["cut"] == 1
    assert result["tables"][f"{name}.orders"]["load"]["rows"] == 2
    names = sorted(asset.name for _, asset, _ in run["outlet_events"].added)
    assert names == ["hudi.database.shop.cuts", "hudi.items", "hudi.orders"]
    server.run(f"TRUNCATE {name}.items", f"INSERT INTO {name}.orders VALUES (7, 7)")
    run = context()
    run["ti"].xcom_push("return_value", operator.execute(run))
    names = sorted(asset.name for _, asset, _ in run["outlet_events"].added)
    assert names == ["hudi.database.shop.cuts", "hudi.database.shop.cuts", "hudi.orders"]  # no event is stored yet
    with pytest.raises(AirflowFailException, match=rf"(?s)A table of shop is behind.*{name}\.items: .*TRUNCATE"):
        HudiTablesBehindOperator(task_id="behind", server="shop").execute(run)
    for asked, state in (
        ({"skip": [f"{name}.items"]}, "skipped"),
        ({}, "skipped"),
        ({"resume": [f"{name}.items"]}, "parked"),
    ):
        assert operator.execute(context(**asked))["tables"][f"{name}.items"]["state"] == state
    assert lake_rows(str(tmp_path / "orders")) == server_rows(server, name, "orders")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("state: {folder}/state, ", "", "has no folder for its state"),
        ("{name}.items", "{name}.orders", "Two tables of the registry are loaded from one table"),
        ("source: {{server: shop, table:", "description: {{server: shop, table:", "has no table that is loaded"),
    ],
)
def test_registries_without_what_a_run_needs(shop, tmp_path, before, after, words):
    name, run = shop
    file = tmp_path / "tables.yaml"
    text = file.read_text()
    if "description" in after:
        text = text.partition("tables:")[0] + "tables: []"
    file.write_text(text.replace(before.format(folder=tmp_path, name=name), after.format(folder=tmp_path, name=name)))
    code, printed = run("sync", "shop")
    assert (code, words in printed.err) == (2, True), printed.err

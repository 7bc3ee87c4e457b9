"""A pipeline of Flink CDC is planned and run as it is, by its file alone or from a registry."""

from __future__ import annotations

import json

import pytest

from hoodie.table import HoodieTable
from hudi_services.cli.program import main
from tests.support.mariadb import PASSWORD

pytestmark = pytest.mark.process

PIPELINE = r"""
source:
  type: mysql
  hostname: 127.0.0.1
  port: {port}
  username: lake
  password: "{password}"
  tables: {name}.\.*
  tables.exclude: {name}.old_\.*
  jdbc.properties.useSSL: 'false'
  connect.timeout: 10s
sink: {{type: hudi, path: {folder}/lake}}
route:
  - {{source-table: '{name}.orders_[0-9]+', sink-table: ods.orders}}
pipeline: {{schema.change.behavior: evolve}}
"""


def rows(path):
    return sorted(tuple(row.values()) for row in HoodieTable.open(str(path)).read(columns=["id", "v"]).to_pylist())


def test_a_pipeline_runs_by_its_file_and_leaves_no_secret(server, tmp_path, capsys, monkeypatch):
    name = "flink_cdc"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(
            f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, v INT)"
            for table in ("orders_1", "orders_2", "items", "old_a")
        ),
        f"INSERT INTO {name}.orders_1 VALUES (1, 1), (2, 2)",
        f"INSERT INTO {name}.orders_2 VALUES (1, 10)",
    )
    file = tmp_path / "mysql-to-hudi.yaml"
    file.write_text(PIPELINE.format(port=server.port, password=PASSWORD, name=name, folder=tmp_path))
    printed = []

    def run(command, *more):
        code = main(["cdc", command, "shop", *more])
        out, err = capsys.readouterr()
        printed.append(out + err)
        return code, out, err

    pipeline = ("--pipeline", str(file))
    code, out, err = run("plan", *pipeline, "--json")
    assert code == 0, err
    values = json.loads(out)
    assert [(route["sources"], route["base_path"].removeprefix(f"{tmp_path}/")) for route in values["routes"]] == [
        ([f"{name}.items"], f"lake/{name}/items"),
        ([f"{name}.orders_1", f"{name}.orders_2"], "lake/ods/orders"),
    ]
    assert values["without_effect"] == [f"{file}:11: source.connect.timeout: is about the reader of Flink"]
    code, _, err = run("sync", *pipeline)
    assert code == 0, err
    server.run(f"TRUNCATE {name}.orders_2", f"INSERT INTO {name}.orders_1 VALUES (3, 3)")
    code, out, _ = run("sync", *pipeline, "--json")
    assert (code, {table["state"] for table in json.loads(out)["tables"]}) == (0, {"current"})
    assert rows(tmp_path / "lake/ods/orders") == [(1, 1), (2, 2), (3, 3)]
    assert (run("status", *pipeline)[0], run("cuts", *pipeline)[0]) == (0, 0)
    assert run("status", *pipeline, "--registry", "tables.yaml")[0] == 2

    registry = tmp_path / "tables.yaml"
    state = f"state: {tmp_path}/lake/.servers"
    registry.write_text(
        f"servers:\n  shop: {{type: mysql, connection: shop, tls: off, server_id: 5401, {state}}}\n"
        "databases: [{server: shop, pipeline: mysql-to-hudi.yaml}]\n"
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
    file.write_text(file.read_text().replace("127.0.0.1", "unused.invalid"))
    server.run(f"INSERT INTO {name}.orders_1 VALUES (4, 4)")
    assert run("sync", "--registry", str(registry))[0] == 0
    assert rows(tmp_path / "lake/ods/orders")[-1] == (4, 4)

    file.write_text(file.read_text().replace("type: hudi", "type: paimon"))
    for more in (pipeline, ("--registry", str(registry))):
        code, out, err = run("plan", *more)
        assert (code != 0, "mysql-to-hudi.yaml:12: sink.type: has to be hudi" in out + err) == (True, True)
    stored = [path.read_bytes() for path in (tmp_path / "lake").rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in body for body in (*stored, *(text.encode() for text in printed)))


def test_a_projection_and_a_filter_are_those_of_the_rows(server, tmp_path, capsys):
    """A status that is null stays, as in Flink CDC. Rows come and go as they meet the filter."""
    name = "flink_cdc_transforms"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        f"CREATE TABLE {name}.orders_1 (id INT PRIMARY KEY, v INT, status VARCHAR(9), at DATETIME, card VARCHAR(19))",
        f"CREATE TABLE {name}.items (id INT PRIMARY KEY, v INT)",
        f"INSERT INTO {name}.orders_1 VALUES (1, 1, 'new', '2026-01-31', '4111'), (2, 2, NULL, NULL, '4111')",
        f"INSERT INTO {name}.orders_1 VALUES (3, 3, 'draft', NULL, NULL), (4, NULL, 'paid', '2026-02-01', '')",
    )
    file = tmp_path / "mysql-to-hudi.yaml"
    text = PIPELINE.format(port=server.port, password=PASSWORD, name=name, folder=tmp_path)
    text = (
        text.replace("evolve}", "evolve, local-time-zone: UTC}")
        + rf"""
transform:
  - source-table: {name}.orders_\.*
    projection: id, v, status, at, UPPER(status) AS state, DATE_FORMAT(at, 'yyyy-MM') AS month
    filter: status <> 'draft'
    primary-keys: id
  - source-table: {name}.\.*
    projection: \*, v + 1 AS w
"""
    )
    file.write_text(text)

    def run(command, *more):
        code = main(["cdc", command, "shop", "--pipeline", str(file), *more])
        return code, capsys.readouterr()

    code, printed = run("plan", "--json")
    columns = [route["columns"] for route in json.loads(printed.out)["routes"]]
    assert code == 0
    assert columns == [
        {"id": "int32", "v": "int32", "w": "int32"},
        {
            "_source_database": "string",
            "_source_table": "string",
            "id": "int32",
            "v": "int32",
            "status": "string",
            "at": "timestamp[us]",
            "state": "string",
            "month": "string",
        },
    ]
    assert run("sync")[0] == 0
    path = str(tmp_path / "lake/ods/orders")

    def stored():
        table = HoodieTable.open(path).read().to_pylist()
        return sorted((row["id"], row["v"], row["state"], row["month"]) for row in table)

    assert stored() == [(1, 1, "NEW", "2026-01"), (2, 2, None, None), (4, None, "PAID", "2026-02")]
    server.run(
        f"UPDATE {name}.orders_1 SET status = 'draft' WHERE id = 1",
        f"UPDATE {name}.orders_1 SET status = NULL WHERE id = 3",
        f"UPDATE {name}.orders_1 SET card = '4222' WHERE id = 2",
        f"ALTER TABLE {name}.orders_1 ADD later INT",
        f"INSERT INTO {name}.orders_1 VALUES (5, 5, 'x', '2025-12-31', NULL, 7)",
    )
    assert run("sync")[0] == 0
    assert stored() == [(2, 2, None, None), (3, 3, None, None), (4, None, "PAID", "2026-02"), (5, 5, "X", "2025-12")]
    assert not {"card", "later"} & set(HoodieTable.open(path).read().column_names)
    assert not [file for file in (tmp_path / "lake").rglob("*") if file.is_file() and b"4111" in file.read_bytes()]
    file.write_text(text.replace("v + 1", "v + 2"))
    assert "computed in another way" in "".join(run("sync")[1])
    server.run(f"CREATE TABLE {name}.more (id INT PRIMARY KEY)")
    file.write_text(text)
    code, printed = run("plan")
    assert (code, "'w' cannot be used: \"v\" + 1" in printed.out) == (1, True), printed

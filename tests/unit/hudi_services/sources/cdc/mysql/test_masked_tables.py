"""Masked columns: their values are in no file, no output and no message."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.matrix import diagonal

pytestmark = pytest.mark.process
SECRET = "PLANTED-4111-1111"
OPTIONS = "hoodie.parquet.compression.codec: uncompressed"  # so that files can be searched


@pytest.fixture
def lake(server, tmp_path, monkeypatch, capsys, request):
    """Functions that run `cdc` and that write the registry with some masks."""
    name = f"masked_{request.node.name.partition('[')[0][:30]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        f"CREATE TABLE {name}.users (id INT PRIMARY KEY, email VARCHAR(40), card VARCHAR(40), note TEXT, n INT)",
        f"INSERT INTO {name}.users VALUES (1, '{SECRET}a', '{SECRET}b', '{SECRET}c', 5), (2, NULL, NULL, NULL, NULL)",
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
    monkeypatch.setenv("AIRFLOW_CONN_PEPPER", "generic://:pepper@")
    monkeypatch.setenv("HUDI_REGISTRY", str(tmp_path / "tables.yaml"))

    def registry(masks, kind="COPY_ON_WRITE", hash_key="hash_key: pepper, "):
        (tmp_path / "tables.yaml").write_text(
            f"""
servers:
  shop: {{type: mysql, connection: shop, tls: off, server_id: 5401, {hash_key}state: {tmp_path}/state}}
tables:
  - name: users
    base_path: {tmp_path}/users
    type: {kind}
    source: {{server: shop, table: {name}.users, masks: {json.dumps(masks)}}}
    ingest: {{hoodie: {{{OPTIONS}}}}}
"""
        )

    def run(*arguments):
        code = main(["cdc", *arguments])
        printed = capsys.readouterr()
        assert SECRET not in printed.out + printed.err
        return code, printed

    return name, registry, run


def rows(folder):
    table = HoodieTable.open(str(folder / "users")).read()
    return {row["id"]: {k: v for k, v in row.items() if not k.startswith("_hoodie")} for row in table.to_pylist()}


def assert_nowhere(folder: Path):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_values_are_in_no_file(server, lake, tmp_path, kind, caplog):
    name, registry, run = lake
    registry({"email": "hash", "card": "drop", "note": "mask", "n": "mask"}, kind)
    assert run("sync", "shop")[0] == 0
    server.run(
        f"INSERT INTO {name}.users VALUES (3, '{SECRET}a', 'x', '', 7)",
        f"UPDATE {name}.users SET note = '{SECRET}z', id = 9 WHERE id = 1",
        f"UPDATE {name}.users SET email = '{SECRET}a' WHERE id = 2",
    )
    assert run("sync", "shop")[0] == 0
    stored = rows(tmp_path)
    assert sorted(stored) == [2, 3, 9]
    assert len({row["email"] for row in stored.values()}) == 1
    assert len(stored[9]["email"]) == 64
    assert "card" not in stored[9]
    assert [(stored[key]["note"], stored[key]["n"]) for key in (2, 3, 9)] == [
        (None, None),
        ("***", None),
        ("***", None),
    ]
    assert_nowhere(tmp_path)
    assert SECRET not in caplog.text
    server.run(f"TRUNCATE {name}.users", f"INSERT INTO {name}.users VALUES (4, '{SECRET}a', 'x', '', 7)")
    assert run("sync", "shop")[0] == 1
    assert run("load", "--table", "users", "--start-fresh")[0] == 0
    assert sorted(rows(tmp_path)) == [4]
    assert_nowhere(tmp_path)


def test_a_table_keeps_its_masks(lake, tmp_path, monkeypatch):
    name, registry, run = lake
    registry({"email": "hash"})
    assert run("sync", "shop")[0] == 0
    code, printed = run("load", "shop", f"{name}.users", "--target-base-path", str(tmp_path / "users"), "--start-fresh")
    assert (code, "masked in another way" in printed.err) == (2, True)
    for masks in ({}, {"email": "drop"}, {"email": "hash", "note": "mask"}):
        registry(masks)
        code, printed = run("sync", "shop")
        assert (code, "masked in another way" in printed.out) == (1, True)
    registry({"email": "hash"})
    monkeypatch.setenv("AIRFLOW_CONN_PEPPER", "generic://:salt@")
    code, printed = run("sync", "shop", "--resume", f"{name}.users")
    assert (code, "masked in another way" in printed.out) == (1, True)
    monkeypatch.setenv("AIRFLOW_CONN_PEPPER", "generic://:pepper@")
    assert run("sync", "shop", "--resume", f"{name}.users")[0] == 0


@pytest.mark.parametrize(
    ("kind", "command"), diagonal(["COPY_ON_WRITE", "MERGE_ON_READ"], [(("verify", "--repair"),), (("resync",),)])
)
def test_masked_values_are_compared_after_their_masks(server, lake, tmp_path, kind, command):
    name, registry, run = lake
    registry({"email": "hash", "card": "drop", "note": "mask", "n": "mask"}, kind)
    server.run(f"USE {name}", f"INSERT INTO users SELECT seq, CONCAT('{SECRET}', seq), 'c', 'n', 1 FROM seq_3_to_40")
    assert run("sync", "shop")[0] == 0
    code, printed = run("verify", "--table", "users", "--json")
    report = json.loads(printed.out)
    assert (code, report["equal"], report["rows"], report["rows_read"]) == (0, True, 40, 40)
    assert report["masked"] == {"email": "hash", "card": "drop", "note": "mask", "n": "mask"}
    table = HoodieTable.open(str(tmp_path / "users"))
    right = rows(tmp_path)
    stored = table.stored_schema
    wrong = [right[5] | {"email": right[6]["email"]}, right[7] | {"note": None}, right[8] | {"id": 77}]
    table.write(pa.Table.from_pylist(wrong, stored), "upsert")
    table.write(pa.Table.from_pylist([right[9]], stored), "delete")
    code, printed = run("verify", "--table", "users", "--values")
    assert code == 1
    for words in ("1 missing", "1 not at the server", "2 other values", "email (1)", "note (1)"):
        assert words in printed.out, words
    for words in ("compared by their hashes", "not compared", "card"):
        assert words in printed.out, words
    code, printed = run(command[0], "--table", "users", *command[1:])
    assert (code, "repaired" in printed.out) == (0, True)
    assert rows(tmp_path) == right
    server.run(f"UPDATE {name}.users SET email = '{SECRET}!' WHERE id = 3")
    assert run(*command[:1], "--table", "users")[0] == 0
    assert run("verify", "--table", "users")[0] == 0
    assert_nowhere(tmp_path)


def test_a_hashed_key_is_compared(server, lake, tmp_path):
    _, registry, run = lake
    registry({"id": "hash", "email": "hash"})
    assert run("sync", "shop")[0] == 0
    assert run("verify", "--table", "users")[0] == 0
    table = HoodieTable.open(str(tmp_path / "users"))
    right = rows(tmp_path)
    table.write(table.read().slice(0, 1).select(table.stored_schema.names), "delete")
    code, printed = run("verify", "--table", "users", "--repair")
    assert (code, "1 missing" in printed.out) == (0, True)
    assert rows(tmp_path) == right


def test_wrong_masks_are_refused(lake):
    _, registry, run = lake
    for masks, words in (({"Email": "mask"}, "has no column 'Email'"), ({"id": "drop"}, "part of the key")):
        registry(masks)
        code, printed = run("load", "--table", "users")
        assert (code, words in printed.err) == (2, True), printed.err
    registry({"email": "hash"}, hash_key="")
    code, printed = run("load", "--table", "users")
    assert (code, "has no hash_key" in printed.err) == (2, True)
    registry({"note": "mask"})
    assert run("load", "--table", "users")[0] == 0
    code, printed = run("load", "--table", "users", "--zero-dates", "fail")
    assert (code, "--zero-dates contradicts --table" in printed.err) == (2, True)

"""Keys of shards that two tables have are in the plan, before a load stops at them."""

from __future__ import annotations

import os
import shutil

import pytest

from hudi_services.registry.database_tables import registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.sources.databases import key_collisions
from tests.support.mariadb import MariaDB

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server():
    server = MariaDB()
    yield server
    server.stop()


@pytest.fixture
def found(server, tmp_path, monkeypatch):
    """Makes shards with rows of these keys, and returns what the plan says of them."""
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)

    def found(keys, kind="INT", rule="global_keys: true"):
        server.run("CREATE OR REPLACE DATABASE shards")
        shutil.rmtree(tmp_path / "state", ignore_errors=True)
        for name, values in keys.items():
            server.run(f"CREATE TABLE shards.{name} (id {kind}, part INT, PRIMARY KEY (id, part))")
            if values:
                server.run(f"INSERT INTO shards.{name} VALUES {', '.join(f'({value!r}, 1)' for value in values)}")
        file = tmp_path / "tables.yaml"
        file.write_text(
            f"""
servers:
  shop: {{type: mysql, connection: shop, tls: off, server_id: 5401, state: {tmp_path}/state}}
databases:
  - {{server: shop, database: shards, tables: ".*", merge: true, {rule}, base_path: {tmp_path}/shards}}
"""
        )
        sync = registered_sync("shop", read_registry(file), os.environ)
        current = sync.current(preflight=True)
        return [(one.state, one.name, one.found) for one in current.preflight if one.name.startswith("keys of")]

    return found


def test_a_key_of_two_shards_is_named(found):
    assert found({"a": [1, 2, 3], "b": [3, 4], "c": [100], "d": []}) == [
        ("missing", "keys of shards.a and shards.b", "both have a row of id=3, part=1, and keys are said to be global")
    ]
    assert found({"a": [1, 3, 5], "b": [2, 4, 6], "c": [100]}) == []
    assert found({"a": ["x", "y"], "b": ["y"]}, "VARCHAR(9)") == [
        ("missing", "keys of shards.a and shards.b", "both have a row of id=y, part=1, and keys are said to be global")
    ]


def test_keys_that_are_not_global_may_be_the_same(found):
    assert found({"a": [1], "b": [1]}, rule="global_keys: false") == []


def test_many_pairs_are_not_all_compared(found, monkeypatch):
    monkeypatch.setattr(key_collisions, "_PAIRS", 1)
    [warning] = found({"a": [1, 9], "b": [2, 8], "c": [3, 7]})
    assert warning == (
        "warning",
        "keys of shards.a and other shards",
        "2 pairs of tables may have the same keys, and were not compared",
    )

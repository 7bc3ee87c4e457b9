"""All tables of a server are compared at one cut, beside loads that go on."""

from __future__ import annotations

import os

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hudi_services.registry.database_tables import cut_store, registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.sources.databases.table_verifications import VerificationStore
from hudi_services.sources.databases.verification import ServerVerification
from tests.support.mariadb import MariaDB

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server():
    server = MariaDB()
    yield server
    server.stop()


@pytest.fixture
def shop(server, tmp_path, monkeypatch, request):
    """A database of five tables, and a function that makes its sync."""
    name = f"ver_{request.node.name[:40]}"
    server.run(
        f"CREATE OR REPLACE DATABASE {name}",
        *(
            f"CREATE TABLE {name}.{table} (id INT PRIMARY KEY, v INT)"
            for table in ("a", "b", "c", "shard_1", "shard_2")
        ),
        *(f"INSERT INTO {name}.{table} VALUES (1, 1), (2, 2)" for table in ("a", "b", "c", "shard_1")),
    )
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"""
servers:
  shop: {{type: mysql, connection: shop, tls: off, server_id: 5401, state: {tmp_path}/state}}
databases:
  - {{server: shop, database: {name}, tables: "[ab]", base_path: "{tmp_path}/{{table}}"}}
  - {{server: shop, database: {name}, tables: c, masks: {{v: mask}}, base_path: "{tmp_path}/{{table}}"}}
  - {{server: shop, database: {name}, tables: "shard_.", merge: true, base_path: {tmp_path}/shards}}
"""
    )
    reading = read_registry(file)
    return name, reading, lambda: registered_sync("shop", reading, os.environ)


def test_all_tables_are_compared_at_one_cut_and_the_oldest_proofs_first(server, shop, tmp_path):
    name, reading, sync = shop
    results = {one.table.partition(".")[2]: one for one in ServerVerification(sync(), 60).run()}
    cut = cut_store("shop", reading).latest()
    assert (cut.number, len(cut.tables)) == (2, 5)
    assert {table: one.state for table, one in results.items()} == {
        "a": "equal",
        "b": "equal",
        "c": "equal",
        **dict.fromkeys(("shard_1", "shard_2"), "equal"),
    }
    assert {(one.cut, one.position) for one in results.values()} == {(2, cut.position)}
    assert results["a"].rows == 2
    assert [results[one].reason for one in ("c", "shard_1")] == ["after masks: v (mask)", ""]

    table = HoodieTable.open(str(tmp_path / "b"))
    table.write(table.read().slice(0, 1).select(["id", "v"]), "delete")
    server.run(f"INSERT INTO {name}.a VALUES (3, 3)")
    times = iter([0, 0, *[100] * 9])
    results = {
        one.table.partition(".")[2]: one for one in ServerVerification(sync(), 60, monotonic=lambda: next(times)).run()
    }
    assert (results["a"].state, results["a"].rows) == ("equal", 3)
    assert (results["b"].state, results["b"].reason) == ("left", "the time was over: the next run begins with it")
    results = {one.table.partition(".")[2]: one for one in ServerVerification(sync(), 60).run()}
    assert (results["b"].state, results["b"].differing) == ("differs", 1)
    stored = VerificationStore(cut_store("shop", reading).storage, "shop").latest()
    assert {table.partition(".")[2]: one.state for table, one in stored.tables.items()} == {
        "a": "equal",
        "b": "differs",
        "c": "equal",
        **dict.fromkeys(("shard_1", "shard_2"), "equal"),
    }
    [one] = ServerVerification(sync(), 60, frozenset([f"{name}.a"])).run()
    assert (one.table, one.state) == (f"{name}.a", "equal")
    with pytest.raises(ConfigError, match=r"Nothing loads a table 'x\.y' from shop"):
        ServerVerification(sync(), 60, frozenset(["x.y"])).run()


def test_changes_while_tables_are_compared_are_of_later_cuts(server, shop, monkeypatch):
    name, _, sync = shop
    sync().run()
    verification = ServerVerification(sync(), 60)
    step = verification.sync.cuts.latest

    def meanwhile():
        """Called between the cut and the comparisons: another load brings the tables further."""
        cut = step()
        if cut.number == 3:
            server.run(f"INSERT INTO {name}.a VALUES (7, 7)", f"CREATE TABLE {name}.new (id INT PRIMARY KEY)")
        return cut

    monkeypatch.setattr(type(verification.sync.cuts), "latest", lambda store: meanwhile())
    results = {one.table.partition(".")[2]: one for one in verification.run()}
    assert (results["a"].state, results["a"].rows, "new" in results) == ("equal", 2, False)

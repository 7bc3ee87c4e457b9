"""`hudi-services cdc load`, `verify` and `resync`."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.mariadb import MariaDB
from tests.support.tables import SMALL_BLOOM

REGISTRY = """
servers:
  shop: {type: mysql, connection: shop, tls: off, server_id: 5401}
tables: []
"""


@pytest.fixture
def run(tmp_path, capsys):
    registry = tmp_path / "tables.yaml"
    registry.write_text(REGISTRY)

    def run(command, *more):
        table = ("shop", "shop.orders", "--target-base-path", str(tmp_path / "lake"), "--registry", str(registry))
        code = main(["cdc", command, *table, *more])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.mark.process
def test_a_damaged_table_is_listed_without_values_and_repaired(run, monkeypatch, tmp_path):
    server = MariaDB()
    try:
        monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
        server.run(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, v VARCHAR(20), b BLOB)",
            "INSERT INTO shop.orders VALUES (1, 'secret', x'ff'), (2, 'b', NULL), (3, 'c', NULL)",
        )
        code, _, err = run("verify")
        assert (code, "has no rows of shop/shop.orders to compare" in err) == (2, True)
        assert run("load", "--hoodie-conf", "hoodie.index.bloom.num_entries=100")[0] == 0
        code, out, _ = run("verify")
        assert (code, out.splitlines()[0]) == (0, "equal")
        lake = HoodieTable.open(str(tmp_path / "lake"))
        lake.write(pa.table({"id": pa.array([2], pa.int32())}), "delete", SMALL_BLOOM)
        rows = pa.table(
            {"id": pa.array([1, 9], pa.int32()), "v": ["other", "x"], "b": pa.array([b"\xff", None], pa.binary())}
        )
        lake.write(rows, "upsert", SMALL_BLOOM)
        code, out, _ = run("verify")
        assert (code, out.splitlines()[0]) == (1, "NOT EQUAL")
        assert "1 missing in the lake, 1 not at the server, 1 other values" in out
        assert "secret" not in out
        code, out, _ = run("verify", "--values", "--json")
        examples = {example["kind"]: example for example in json.loads(out)["examples"]}
        assert (code, json.loads(out)["equal"]) == (1, False)
        assert examples["changed"]["server"] == {"v": "secret"}
        code, out, _ = run("verify", "--repair", "--limit", "1", "--values")
        assert (code, out.splitlines()[0]) == (0, "repaired")
        assert "1 of 3 rows" in out
        server.run("TRUNCATE shop.orders", "INSERT INTO shop.orders VALUES (1, 'secret', NULL)")
        assert "without logging them" in run("load")[2]
        code, out, _ = run("resync")
        assert (code, out.splitlines()[0]) == (0, "repaired")
        assert "2 not at the server, 1 other values" in out
        assert run("verify")[1].splitlines()[0] == "equal"
    finally:
        server.stop()


def test_a_table_needs_its_database():
    assert main(["cdc", "verify", "shop", "orders", "--target-base-path", "x"]) == 2

"""`hudi-services cdc check`."""

from __future__ import annotations

import json
import re

import pytest

from hudi_services.cli.program import main
from tests.support.mariadb import MariaDB

REGISTRY = """
servers:
  shop: {type: mysql, connection: shop, tls: off, server_id: 5401}
  wrong: {type: mysql, connection: "mysql://lake:secret@db", server_id: 0}
tables: []
"""


@pytest.fixture
def check(tmp_path, capsys):
    registry = tmp_path / "tables.yaml"
    registry.write_text(REGISTRY)

    def check(name, *more):
        code = main(["cdc", "check", name, "--registry", str(registry), *more])
        out, err = capsys.readouterr()
        return code, out, err

    return check


def test_servers_that_are_not_declared_right_are_named_without_their_secrets(check):
    code, out, err = check("wrong")
    assert code != 0
    assert "servers.wrong.connection: has to be the id of an Airflow connection" in err
    assert "servers.wrong.server_id" in err
    assert "secret" not in out + err


@pytest.mark.process
def test_each_requirement_is_listed_and_a_missing_one_fails_the_command(check, monkeypatch):
    server = MariaDB({"binlog-row-metadata": "MINIMAL"})
    try:
        monkeypatch.setenv("AIRFLOW_CONN_SHOP", server.url)
        code, out, _ = check("shop", "--json")
        missing = [row for row in json.loads(out)["requirements"] if row["state"] == "missing"]
        assert (code, [row["found"] for row in missing]) == (1, ["MINIMAL", "0 tables"])
        server.run(
            "SET GLOBAL binlog_row_metadata = 'FULL'",
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY)",
        )
        code, out, _ = check("shop")
        assert code == 0
        assert re.search(r"ok +the user 'lake' has REPLICATION SLAVE", out)
    finally:
        server.stop()

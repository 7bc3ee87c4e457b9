"""Rows by snapshot are rows by binlog, and no row is missed or read twice between the two."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hudi_services.cdc.mysql.snapshot import snapshot
from tests.support.binlog import DECLARED, log_end, logged, rows_of
from tests.support.mysql_types import TYPES

pytestmark = pytest.mark.process


def snapped(server, database, table):
    return snapshot("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, database, table)


def test_each_type_has_one_value_by_snapshot_and_by_binlog(server):
    columns = [f"c{number}" for number in range(len(TYPES))]
    declared = ", ".join(f"{name} {kind}" for name, (kind, _, _) in zip(columns, TYPES, strict=True))
    server.run("CREATE DATABASE both_ways", f"CREATE TABLE both_ways.t (id INT PRIMARY KEY AUTO_INCREMENT, {declared})")
    start = log_end(server)
    inserts = ["INSERT INTO both_ways.t (id) VALUES (NULL)"]
    for row in range(max(len(values) for _, _, values in TYPES)):
        chosen = {
            name: values[row][0] for name, (_, _, values) in zip(columns, TYPES, strict=True) if row < len(values)
        }
        inserts.append(f"INSERT INTO both_ways.t ({', '.join(chosen)}) VALUES ({', '.join(chosen.values())})")
    server.run("SET SESSION sql_mode = '', time_zone = '+00:00'", *inserts)
    parts = logged(server, start)
    with snapped(server, "both_ways", "t") as found:
        rows = found.rows.read_all()
    assert found.table.key == ("id",)
    assert rows.schema.equals(parts[0].shape.schema)
    assert rows.to_pylist() == rows_of(parts)


def test_changes_after_the_position_are_those_that_the_rows_lack(server):
    server.run(
        "CREATE DATABASE moment",
        "CREATE TABLE moment.t (id INT PRIMARY KEY, v FLOAT)",
        "INSERT INTO moment.t VALUES (1, 16777217.1)",
    )
    with snapped(server, "moment", "t") as found:
        server.run("INSERT INTO moment.t VALUES (2, 2)", "UPDATE moment.t SET v = 5 WHERE id = 1")
        assert found.rows.read_all().to_pylist() == [{"id": 1, "v": 16777218.0}]
    assert [row["id"] for row in rows_of(logged(server, found.position))] == [2, 1]


def test_keys_and_names(server):
    server.run(
        "CREATE DATABASE `odd ``base`",
        "CREATE TABLE `odd ``base`.`a ``t` (`b ``c` INT NOT NULL, d VARCHAR(9) NOT NULL, UNIQUE u (d, `b ``c`), UNIQUE v (d))",
        "INSERT INTO `odd ``base`.`a ``t` VALUES (1, 'x')",
    )
    with snapped(server, "odd `base", "a `t") as found:
        assert found.rows.read_all().to_pylist() == [{"b `c": 1, "d": "x"}]
    assert found.table.key == ("d", "b `c")
    with pytest.raises(SourceError, match="has no table shop"), snapped(server, "shop", "none"):
        pass

"""Rows by snapshot are rows by binlog, and no row is missed or read twice between the two."""

from __future__ import annotations

from functools import partial

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql import snapshot as source
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN
from hudi_services.sources.cdc.mysql.snapshot import snapshot
from tests.support.binlog import DECLARED, log_end, logged, rows_of
from tests.support.mysql_types import TYPES

pytestmark = pytest.mark.process


def snapped(server, database, table, choices=PLAIN):
    return snapshot("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, database, table, choices)


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


def test_text_of_each_character_set_is_the_same_by_snapshot_and_by_binlog(server):
    """The server prints a question mark for bytes that its tables of characters lack, such as the euro of ISO 8859-7."""
    texts = {"greek": "A4A5E1", "cp1256": "8A8F98", "eucjpms": "A1C1A1F1", "ucs2": "005C20AC", "sjis": "815F5C"}
    columns = [f"{name} VARCHAR(9) CHARACTER SET {name}, {name}_c CHAR(9) CHARACTER SET {name}" for name in texts]
    values = [f"CONVERT(UNHEX('{value}') USING {name})" for name, value in texts.items() for _ in range(2)]
    server.run(
        "CREATE DATABASE letters",
        f"CREATE TABLE letters.t (id INT PRIMARY KEY, e ENUM('é', 'ü,') CHARACTER SET latin1, {', '.join(columns)})",
    )
    start = log_end(server)
    server.run(f"INSERT INTO letters.t VALUES (1, 2, {', '.join(values)}), (2, 1{', NULL' * len(values)})")
    with snapped(server, "letters", "t") as found:
        rows = found.rows.read_all().to_pylist()
    assert rows == rows_of(logged(server, start))
    assert [rows[0][name] for name in ("e", "greek", "cp1256_c", "eucjpms")] == ["ü,", "€₯α", "ٹڈک", "～￠"]


def test_rows_that_are_long_come_in_small_batches(server, monkeypatch):
    monkeypatch.setattr(source, "result_rows", partial(source.result_rows, size=10_000))
    server.run(
        "CREATE DATABASE long_",
        "CREATE TABLE long_.t (id INT PRIMARY KEY, v TEXT)",
        "USE long_",
        "INSERT INTO t SELECT seq, REPEAT('x', IF(seq < 8, 6000, 1)) FROM seq_1_to_30",
    )
    with snapped(server, "long_", "t") as found:
        assert [batch.num_rows for batch in found.rows] == [2, 2, 2, 24]


def test_decimals_that_are_text_have_no_zeros_before_them(server):
    server.run(
        "CREATE DATABASE forms",
        "CREATE TABLE forms.d (id INT PRIMARY KEY, v DECIMAL(40,1) ZEROFILL, w ENUM('year(2)', '/* mariadb-5.3 */'))",
        "INSERT INTO forms.d VALUES (1, 0.5, 1), (2, 10, 1)",
    )
    with snapped(server, "forms", "d") as found:
        assert found.rows.read_all().column("v").to_pylist() == ["0.5", "10.0"]


def test_servers_of_tests_keep_their_temporary_tables_apart(server):
    connection = server.connection()
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@tmpdir, @@datadir")
        [[temporary, data]] = cursor.fetchall()
    assert data.startswith(temporary)

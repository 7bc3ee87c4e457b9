"""Dates that no calendar has, by the choice of the user, in rows of snapshots and of the binlog."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.mysql.binlog.decoding import Choices
from tests.support.binlog import log_end, logged, rows_of
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot import snapped
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process
TEXT = Choices(zero_dates="text")


def test_each_choice_has_one_value_by_snapshot_and_by_binlog(server):
    server.run(
        "CREATE DATABASE zeros",
        "CREATE TABLE zeros.t (id INT PRIMARY KEY, a DATE NOT NULL, b DATETIME, c DATETIME(4) NOT NULL, d TIMESTAMP(2) NULL,"
        " e TIMESTAMP NULL, f TIME)",
    )
    start = log_end(server)
    server.run(
        "SET sql_mode = '', time_zone = '+00:00'",
        "INSERT INTO zeros.t VALUES (1, '2020-02-29', '2020-01-02 03:04:05', '9999-12-31 23:59:59.9999',"
        " '2038-01-19 03:14:07.99', '1970-01-01 00:00:01', '-1:0:0'),"
        " (2, '0000-00-00', '2020-00-10 10:11:12', '0000-00-00', '0000-00-00', '0000-00-00', 0),"
        " (3, '2021-02-30', NULL, '0000-01-01 01:02:03.4', NULL, NULL, NULL)",
    )
    for choices in (Choices(), TEXT):
        parts = logged(server, start, choices=choices)
        with snapped(server, "zeros", "t", choices) as found:
            rows = found.rows.read_all()
        assert rows.schema.equals(parts[0].shape.schema)
        assert rows.to_pylist() == rows_of(parts)
        if choices == TEXT:
            connection = server.connection("zeros")
            with connection, connection.cursor() as cursor:
                cursor.execute("SET time_zone = '+00:00'")
                cursor.execute("SELECT id, a, b, CAST(c AS CHAR), CAST(d AS CHAR), CAST(e AS CHAR), f FROM t")
                printed = [tuple(None if value is None else str(value) for value in row[1:6]) for row in cursor]
            assert [tuple(row.values())[1:6] for row in rows.to_pylist()] == printed
    fails = Choices(zero_dates="fail")
    with pytest.raises(ValueError, match="1 date of the column 'a' that no calendar has"):
        logged(server, start, choices=fails)
    with snapped(server, "zeros", "t", fails) as found, pytest.raises(SourceError, match="that no calendar has"):
        found.rows.read_all()


def test_a_zero_date_in_a_key_is_a_text_where_the_user_says_so(server, tmp_path):
    target = str(tmp_path / "lake")
    server.run(
        "CREATE DATABASE zero_keys",
        "CREATE TABLE zero_keys.t (d DATE, at DATETIME(1), v INT, PRIMARY KEY (d, at))",
        "SET sql_mode = ''",
        "INSERT INTO zero_keys.t VALUES ('0000-00-00', '0000-00-00', 1), ('2020-02-00', '2020-01-01', 2)",
    )
    with pytest.raises(SourceError, match="--zero-dates text"):
        load(server, "zero_keys", str(tmp_path / "null")).run()

    def loaded():
        load(server, "zero_keys", target, choices=TEXT).run()
        return lake_rows(target)

    assert [row[2] for row in loaded()] == [1, 2]
    server.run(
        "SET sql_mode = ''",
        "UPDATE zero_keys.t SET d = '2021-02-31' WHERE v = 1",
        "UPDATE zero_keys.t SET v = 3 WHERE v = 2",
        "INSERT INTO zero_keys.t VALUES ('0000-00-00', '2020-01-01', 4)",
    )
    with pytest.raises(ConfigError, match=r"'d' is string in the table, and date32\[day\] in the rows"):
        load(server, "zero_keys", target).run()
    with pytest.raises(ConfigError, match="of the first load"):
        load(server, "zero_keys", target).run(start_fresh=True)
    assert loaded() == server_rows(server, "zero_keys", columns="CAST(d AS CHAR), CAST(at AS CHAR), v")

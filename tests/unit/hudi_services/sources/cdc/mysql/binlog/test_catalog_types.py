"""Types of MariaDB that the log has in other forms than the catalog: each row by snapshot is the row by binlog."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from types import SimpleNamespace

import pyarrow as pa
import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql.binlog.catalog_types import printed_values
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices
from tests.support.binlog import log_end, logged, rows_of
from tests.support.mariadb import only_mariadb
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot import snapped
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process


def both(server, database, start, choices=PLAIN):
    """The rows of the table `t`, of which all were inserted since `start`, after it was seen that both ways give them."""
    parts = logged(server, start, choices=choices)
    with snapped(server, database, "t", choices) as found:
        rows = found.rows.read_all()
    assert rows.schema.equals(parts[0].shape.schema)
    assert rows.to_pylist() == rows_of(parts)
    return SimpleNamespace(rows=[tuple(row.values())[1:] for row in rows.to_pylist()], schema=rows.schema)


@only_mariadb
def test_compressed_columns_are_their_text_and_bytes(server):
    server.run(
        "CREATE DATABASE packed",
        "CREATE TABLE packed.t (id INT PRIMARY KEY, a VARCHAR(254) CHARACTER SET latin1 COMPRESSED,"
        " b VARCHAR(255) CHARACTER SET latin1 COMPRESSED, c VARCHAR(900) COMPRESSED, d TINYTEXT COMPRESSED,"
        " e LONGTEXT CHARACTER SET ucs2 COMPRESSED, f MEDIUMBLOB COMPRESSED, g VARBINARY(300) COMPRESSED)",
    )
    start = log_end(server)
    long = "REPEAT('aé', 127), REPEAT('a', 255), REPEAT('xy😀', 300), REPEAT('t', 200), REPEAT('é', 5000)"
    rows = ", ".join(f"({key}, {long}, REPEAT(x'00ff', 70000), REPEAT(x'00', 300))" for key in range(1, 3))
    server.run(
        f"INSERT INTO packed.t VALUES {rows}",
        "SET column_compression_threshold = 1, column_compression_zlib_wrap = ON",
        f"INSERT INTO packed.t VALUES {rows.replace('(1,', '(3,').replace('(2,', '(4,')}",
        "INSERT INTO packed.t VALUES (5, '', '', '', '', '', '', ''), (6, 'a', 'b', 'c', 'd', 'e', x'00', x'01'),"
        " (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    found = both(server, "packed", start).rows
    expected = ("aé" * 127, "a" * 255, "xy😀" * 300, "t" * 200, "é" * 5000, b"\0\xff" * 70_000, b"\0" * 300)
    assert found[:4] == [expected] * 4
    assert found[4:6] == [("", "", "", "", "", b"", b""), ("a", "b", "c", "d", "e", b"\0", b"\1")]


@only_mariadb
def test_identifiers_and_addresses_are_text_as_the_server_prints_it(server, tmp_path):
    draw = random.Random(5)
    server.run(
        "CREATE DATABASE addresses", "CREATE TABLE addresses.t (u UUID PRIMARY KEY, v INET4, w INET6, b BINARY(16))"
    )
    start = log_end(server)
    words = [[draw.choice([0, 0, 0, 1, 0xFFFF, draw.randrange(2**16)]) for _ in range(8)] for _ in range(200)]
    values = ", ".join(
        f"(UNHEX('{draw.randrange(2**120) << 8:032x}'), UNHEX('{draw.randrange(2**24) << 8:08x}'),"
        f" UNHEX('{''.join(f'{word:04x}' for word in row)}'), UNHEX('{draw.randrange(2**120) << 8:032x}'))"
        for row in words
    )
    server.run(f"INSERT INTO addresses.t VALUES {values}", "INSERT INTO addresses.t (u) VALUES (UUID())")
    target = str(tmp_path / "lake")
    parts = logged(server, start)
    with snapped(server, "addresses", "t") as found:
        rows = found.rows.read_all()
    assert rows.schema == pa.schema([("u", pa.string()), ("v", pa.string()), ("w", pa.string()), ("b", pa.binary())])
    assert rows.schema.equals(parts[0].shape.schema)
    assert sorted(map(str, rows.to_pylist())) == sorted(map(str, rows_of(parts)))
    load(server, "addresses", target).run()
    server.run(
        "UPDATE addresses.t SET w = '::', v = '0.0.0.0' WHERE w > '8::'", "DELETE FROM addresses.t WHERE w < '::9'"
    )
    load(server, "addresses", target).run()
    assert lake_rows(target) == server_rows(server, "addresses")


def test_addresses_with_few_and_with_many_zeros():
    texts = {
        "00" * 16: "::",
        "0001" + "00" * 14: "1::",
        "00" * 12 + "01020304": "::1.2.3.4",
        "0001" * 8: "1:1:1:1:1:1:1:1",
    }
    texts |= {
        "00" * 10 + "ffff01020304": "::ffff:1.2.3.4",
        "00010000" * 4: "1::1:0:1:0:1:0",
        "00" * 14 + "0001": "::1",
    }
    raw = pa.array([bytes.fromhex(text) for text in texts], pa.large_binary())
    assert printed_values("inet6", raw).to_pylist() == list(texts.values())


@only_mariadb
def test_years_of_two_digits_have_their_century(server):
    server.run("CREATE DATABASE years", "CREATE TABLE years.t (id INT PRIMARY KEY, y YEAR(2))")
    start = log_end(server)
    server.run(
        "SET sql_mode = ''", "INSERT INTO years.t VALUES (1, 2000), (2, '0000'), (3, 70), (4, 69), (5, NULL), (6, '00')"
    )
    assert both(server, "years", start).rows == [(2000,), (0,), (1970,), (2069,), (None,), (2000,)]


@only_mariadb
def test_times_of_old_servers(server):
    server.run("CREATE DATABASE old", "SET GLOBAL mysql56_temporal_format = OFF")
    try:
        server.run(
            "CREATE TABLE old.t (id INT PRIMARY KEY, a TIMESTAMP NULL, b DATETIME, c TIME)",
            "CREATE TABLE old.f (id INT PRIMARY KEY, a TIME(2))",
        )
    finally:
        server.run("SET GLOBAL mysql56_temporal_format = ON")
    start = log_end(server)
    server.run(
        "SET sql_mode = '', time_zone = '+00:00'",
        "INSERT INTO old.t VALUES (1, '2038-01-19 03:14:07', '9999-12-31 23:59:59', '-838:59:59'),"
        " (2, '1970-01-01 00:00:01', '0001-01-01', '838:59:59'), (3, '0000-00-00', '2020-02-00 01:02:03', '-00:00:01'),"
        " (4, NULL, NULL, NULL)",
    )
    assert both(server, "old", start).rows == [
        (datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59), "-838:59:59"),
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), datetime(1, 1, 1), "838:59:59"),
        (None, None, "-00:00:01"),
        (None, None, None),
    ]
    assert both(server, "old", start, Choices(zero_dates="text")).rows[2] == (
        "0000-00-00 00:00:00",
        "2020-02-00 01:02:03",
        "-00:00:01",
    )
    with pytest.raises(SourceError, match=r"the column 'a' has the type time\(2\)"), snapped(server, "old", "f"):
        pass
    start = log_end(server)
    server.run("INSERT INTO old.f VALUES (1, '1:2:3')")
    with pytest.raises(ValueError, match="'a' is of mysql56_temporal_format=OFF"):
        logged(server, start)

"""Rows of a query, cut from the packets of the server."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pymysql
import pytest
from pymysql.cursors import SSCursor

from hudi_services.sources.cdc.mysql.result_rows import result_rows
from tests.support.mariadb import only_mariadb

pytestmark = pytest.mark.process

LONGEST = 0xFFFFFF  # bytes of a packet


@pytest.fixture
def connection(server):
    server.run(f"SET GLOBAL max_allowed_packet = {64 << 20}")
    connection = server.connection()
    yield connection
    connection.close()


def values(connection, statement, **limits):
    return [
        list(zip(*(column.to_pylist() for column in batch), strict=True))
        for batch in result_rows(connection, statement, **limits)
    ]


@only_mariadb
def test_rows_are_those_of_pymysql(connection):
    statement = """SELECT seq, IF(seq % 7, REPEAT('é', seq % 400), NULL), NULL, seq / 3, IF(seq % 11, X'00FF', ''),
        IF(seq % 300, NULL, REPEAT('y', 70000)) FROM test.seq_1_to_1100"""
    connection.decoders, connection.use_unicode = {}, False
    with SSCursor(connection) as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS test")
        cursor.execute(statement)
        expected = list(cursor.fetchall())
    for limits in ({}, {"rows": 1}, {"rows": 999}, {"size": 1}, {"size": 70_000}):
        batches = values(connection, statement, **limits)
        assert [row for batch in batches for row in batch] == expected, limits
    assert values(connection, "SELECT 1 LIMIT 0") == []
    with connection.cursor() as cursor:
        assert cursor.execute("SELECT 5") == 1


@pytest.mark.parametrize("size", [250, 251, 65_535, 65_536, LONGEST - 9, LONGEST - 8, LONGEST + 1])
def test_values_of_each_length(connection, size):
    """The longest fill one packet, go on in the next one, and have an empty packet after them."""
    batches = values(connection, f"SELECT REPEAT('x', {size}), 'end' UNION ALL SELECT 1, 2")
    assert [[(len(first), last) for first, last in batch] for batch in batches] == [[(size, b"end"), (1, b"2")]]


def test_a_row_of_three_packets(connection):
    long = 17 << 20
    statement = f"SELECT REPEAT('x', {long}), NULL, REPEAT('y', {long}) UNION ALL SELECT 1, 2, 3"
    [[row, after]] = values(connection, statement, size=1 << 30)
    assert (row[0] == b"x" * long, row[1], row[2] == b"y" * long) == (True, None, True)
    assert after == (b"1", b"2", b"3")


@only_mariadb
def test_what_fails_at_the_server_fails_here(connection):
    with pytest.raises(pymysql.err.ProgrammingError, match="doesn't exist"):
        values(connection, "SELECT * FROM mysql.nothing")
    late = "SELECT o.seq, (SELECT s.seq FROM test.seq_1_to_2 s WHERE o.seq > 30000) FROM test.seq_1_to_40000 o"
    with pytest.raises(pymysql.err.OperationalError, match="more than 1 row"):
        values(connection, late)
    assert values(connection, "SELECT 7") == [[(b"7",)]]


@pytest.mark.parametrize(
    ("received", "error"),
    [
        (b"\x04\0\0\1", pymysql.err.OperationalError),  # cut off
        (b"\x02\0\0\1\2x\5\0\0\2\xfe\0\0\0\0", ValueError),
        (b"\0\0\0\1\5\0\0\2\xfe\0\0\0\0", ValueError),
        (b"\x03\0\0\1\1xy\5\0\0\2\xfe\0\0\0\0", ValueError),
        (b"\x01\0\0\1\xfc\5\0\0\2\xfe\0\0\0\0", ValueError),
        (b"\x02\0\0\1\xfb", pymysql.err.OperationalError),
    ],
)
def test_packets_that_are_no_rows_are_refused(received, error):
    packet = SimpleNamespace(read_length_encoded_integer=lambda: 1)
    stub = SimpleNamespace(
        _execute_command=lambda *_: None, _read_packet=lambda: packet, _rfile=io.BufferedReader(io.BytesIO(received))
    )
    with pytest.raises(error):
        list(result_rows(stub, "SELECT"))

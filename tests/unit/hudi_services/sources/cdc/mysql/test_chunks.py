"""Chunks by keys of each type: together they have each row once, in any collation, with values that look like syntax."""

from __future__ import annotations

import random
from functools import partial
from itertools import chain

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql import chunks as source_module
from hudi_services.sources.cdc.mysql.chunks import Chunk, chunked_table, chunks, find_key, key_values, read_chunk
from hudi_services.sources.cdc.mysql.columns import declared_table
from hudi_services.sources.cdc.mysql.snapshot_place import begin_snapshot
from hudi_services.sources.cdc.mysql.target import unique_keys
from tests.support.binlog import connect
from tests.support.mariadb import only_mariadb

pytestmark = pytest.mark.process

KEYS = {  # declaration of the first column of a key: values of it
    "INT": ["-2147483648", "-1", "0", "1", "2147483647"],
    "BIGINT UNSIGNED": ["0", "9223372036854775807", "9223372036854775808", "18446744073709551615"],
    "DECIMAL(40,10)": ["-1.5", "0", "0.0000000001", "123456789012345678901234567890.1234567891"],
    "FLOAT": ["-1.1", "0", "0.1", "16777217", "3e38", "1e-30"],
    "DOUBLE": ["-1e300", "0.1", "1e-300", "3", "1.7976931348623157e308"],
    "BIT(12)": ["0", "1", "255", "256", "4095"],
    "YEAR": ["0", "1901", "1970", "2155"],
    "DATE": ["'0000-00-00'", "'2020-02-30'", "'1000-01-01'", "'9999-12-31'"],
    "DATETIME(6)": ["'0000-00-00'", "'2020-02-30 01:02:03.000001'", "'2020-02-30 01:02:03.000002'", "'9999-12-31'"],
    "TIMESTAMP(3)": ["'1970-01-01 00:00:01'", "'2020-10-25 00:30:00.001'", "'2020-10-25 01:30:00'", "'2038-01-19'"],
    "TIME(6)": ["'-838:59:59'", "'-00:00:00.000001'", "'00:00:00'", "'838:59:59.999999'"],
    "VARCHAR(20)": ["''", "'a'", "'B'", "'ß'", "'''; DROP TABLE x; --'", "'\\\\'", "'%s'", "'é😀'"],
    "VARCHAR(20) COLLATE utf8mb4_bin": ["''", "'a'", "'B'", "'ß'", "'😀'"],
    "CHAR(5) CHARACTER SET latin1 COLLATE latin1_german2_ci": ["''", "'Af'", "'ä'", "'z'", "'B'"],
    "VARCHAR(20) CHARACTER SET gbk": ["'中文'", "CONVERT(X'815C' USING gbk)", "'\\''", "'a'"],
    "VARCHAR(20) CHARACTER SET ucs2": ["CONVERT(X'005C0027' USING ucs2)", "'żó'", "'b'"],
    "VARCHAR(20) CHARACTER SET utf8mb3": ["'ż'", "'Y'", "'x'"],
    "VARBINARY(20)": ["''", "X'00'", "X'0000'", "X'275C'", "X'FF'"],
    "BINARY(4)": ["X'00'", "X'275C'", "X'FFFFFFFF'"],
    "UUID": ["'00000000-0000-0000-0000-000000000001'", "'e7f69944-75cd-11ef-ac1f-0242ac110002'", "UUID()"],
    "INET6": ["'::'", "'fe80::1'", "'::ffff:10.0.0.1'"],
    "INET4": ["'0.0.0.0'", "'255.1.2.3'", "'10.0.0.1'"],
    "ENUM('z', 'b', 'a,c', '''')": ["'z'", "'b'", "'a,c'", "''''", "0"],
}


@pytest.fixture
def session(server):
    with connect(server) as connection:
        yield connection


def chunked(session, database, table="t", index="PRIMARY"):
    declared = declared_table(session, database, table)
    keys = {key.index: key for key in unique_keys(session, database, table)}
    return chunked_table(session, declared, keys[index])


@only_mariadb
def test_chunks_by_keys_of_each_type_have_each_row_once(server, session):
    """The type is in the middle of a key, and at its end."""
    count = 13
    columns = ", ".join(f"c{number} {kind} NOT NULL" for number, kind in enumerate(KEYS))
    keys = ", ".join(
        f"UNIQUE m{number} (n, c{number}, id), UNIQUE e{number} (id, c{number})" for number in range(len(KEYS))
    )
    draw = random.Random(1)
    rows = [
        f"INSERT INTO every.t VALUES ({row}, {row % 2}, {', '.join(draw.choice(values) for values in KEYS.values())})"
        for row in draw.sample(range(count), count)
    ]
    server.run(
        "CREATE DATABASE every",
        f"CREATE TABLE every.t (id INT PRIMARY KEY, n INT NOT NULL, {columns}, {keys})",
        "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'",
        *rows,
    )
    declared = declared_table(session, "every", "t")
    for key in unique_keys(session, "every", "t"):
        source = chunked_table(session, declared, key)
        last = key_values(session, source.greatest)
        size = 4 if key.columns[0] == "n" else 5
        parts = list(chunks(partial(key_values, session), source, lambda size=size: size, None, last))
        read = [read_chunk(session, source, part).rows["id"].to_pylist() for part in parts]
        assert [len(part) for part in read] == [size] * (count // size) + [count % size], key
        assert sorted(chain(*read)) == list(range(count)), key


@only_mariadb
def test_tables_that_a_server_would_sort_for_each_chunk_are_not_chunked(server, session):
    server.run(
        "CREATE DATABASE unsorted",
        "CREATE TABLE unsorted.t (a VARCHAR(50), b INT, c INT NOT NULL, d TEXT NOT NULL, s SET('x', 'y') NOT NULL, "
        "PRIMARY KEY (a(5)), UNIQUE k1 (b, c), UNIQUE k2 (c DESC, a), UNIQUE k3 (d) USING HASH, UNIQUE k4 (s, c), UNIQUE k5 (c), "
        "UNIQUE k6 (c) IGNORED)",
        "INSERT INTO unsorted.t SELECT seq, seq, seq, seq, seq % 4 FROM unsorted.seq_1_to_100",
    )
    keys = unique_keys(session, "unsorted", "t")
    declared = declared_table(session, "unsorted", "t")
    assert {key.index: chunked_table(session, declared, key) is not None for key in keys} == {
        **dict.fromkeys(("PRIMARY", "k2", "k3", "k4", "k6"), False),
        "k5": True,
    }
    assert chunked_table(session, declared, None) is None


@only_mariadb
def test_the_index_is_read_for_each_part_of_a_condition(server, session):
    server.run(
        "CREATE DATABASE ranges",
        "CREATE TABLE ranges.t (a INT, b VARCHAR(20), c DATE, v INT, PRIMARY KEY (a, b, c))",
        "INSERT INTO ranges.t SELECT 1, seq % 40, '2020-01-01' + INTERVAL seq DAY, seq FROM ranges.seq_1_to_4000",
        "ANALYZE TABLE ranges.t",
    )
    source = chunked(session, "ranges")
    after, up_to = (b"1", b"3", b"2024-01-01"), (b"1", b"35", b"2020-01-01")
    with session.cursor() as cursor:
        for query in (source.step(after, up_to, 100), source.query(Chunk(after, up_to))):
            cursor.execute(f"EXPLAIN {query}")
            assert cursor.fetchone()[3:6] == ("range", "PRIMARY", "PRIMARY")
        counts = []
        for _ in range(2):
            cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
            counts.append(sum(int(count) for _, count in cursor.fetchall()))
            assert key_values(session, source.step(after, up_to, 100)) is not None
        assert counts[1] - counts[0] < 150


def test_rows_past_the_last_key_are_left_to_the_log(server, session):
    server.run(
        "CREATE DATABASE later", "CREATE TABLE later.t (id INT PRIMARY KEY)", "INSERT INTO later.t VALUES (1), (2), (3)"
    )
    source = chunked(session, "later")
    parts = chunks(partial(key_values, session), source, lambda: 2, None, key_values(session, source.greatest))
    first = next(parts)
    server.run("INSERT INTO later.t VALUES (4), (5)", "DELETE FROM later.t WHERE id = 3")
    [second] = parts
    assert [read_chunk(session, source, part).rows["id"].to_pylist() for part in (first, second)] == [[1, 2], []]


@pytest.mark.parametrize(
    "statement",
    [
        "ADD w INT",
        "MODIFY v BIGINT",
        "DROP v, ALGORITHM = COPY",
        "DROP PRIMARY KEY, ADD UNIQUE (id)",
        "RENAME TO {database}.t2",
    ],
)
def test_definitions_that_change_stop_the_snapshot(server, session, statement, monkeypatch):
    """Before a chunk, and between the begin of its transaction and its rows."""
    database = f"altered_{statement.split()[0]}_{len(statement)}"
    server.run(
        f"CREATE DATABASE {database}", *(f"CREATE TABLE {database}.{name} (id INT PRIMARY KEY, v INT)" for name in "tu")
    )
    inside, before = (chunked(session, database, name) for name in "tu")

    def begin(connection):
        place = begin_snapshot(connection)
        server.run(f"ALTER TABLE {database}.t {statement.format(database=database).replace('t2', 't3')}")
        return place

    server.run(f"ALTER TABLE {database}.u {statement.format(database=database)}")
    with pytest.raises(SourceError, match=r"have changed since|no table altered"):
        read_chunk(session, before, Chunk(None, (b"5",)))
    if "PRIMARY" in statement or "RENAME" in statement:
        with pytest.raises(SourceError, match=r"have changed since|no table altered"):
            find_key(session, before, before.step(None, None, 2))
    monkeypatch.setattr(source_module, "begin_snapshot", begin)
    with pytest.raises(SourceError, match=r"have changed since|no table altered"):
        read_chunk(session, inside, Chunk(None, (b"5",)))

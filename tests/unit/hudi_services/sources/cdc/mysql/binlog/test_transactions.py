"""Transactions of a real MariaDB server: what is committed is read once, in order, and what cannot be read stops by name."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.binlog.events import Event, Kind
from hudi_services.sources.cdc.mysql.binlog.log import events
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Unreadable
from hudi_services.sources.cdc.mysql.binlog.transactions import transactions
from hudi_services.sources.cdc.mysql.position import LogPosition
from tests.support.binlog import SERVER_ID, connect, log_end, logged, operations, rows_of, statements
from tests.support.mariadb import only_mariadb

pytestmark = pytest.mark.process


@pytest.fixture
def table(server, request):
    name = f"t{abs(hash(request.node.name))}"
    server.run(
        "CREATE DATABASE IF NOT EXISTS moves", f"CREATE OR REPLACE TABLE moves.{name} (id INT PRIMARY KEY, v INT)"
    )
    return f"moves.{name}"


def ids(parts):
    return [row["id"] for row in rows_of(parts)]


def test_what_is_rolled_back_is_not_read(server, table):
    start = log_end(server)
    server.run(
        "BEGIN",
        f"INSERT INTO {table} VALUES (1, 1)",
        "ROLLBACK",
        "BEGIN",
        f"INSERT INTO {table} VALUES (2, 1)",
        "SAVEPOINT s",
        f"INSERT INTO {table} VALUES (3, 1)",
        "ROLLBACK TO SAVEPOINT s",
        f"INSERT INTO {table} VALUES (4, 1)",
        "COMMIT",
    )
    assert ids(logged(server, start)) == [2, 4]


@only_mariadb
def test_what_a_savepoint_takes_back_is_not_read_where_the_log_has_it(server, table):
    """A table without transactions, written in the transaction, makes the server log rows that it then takes back."""
    server.run(f"CREATE OR REPLACE TABLE {table}_m (id INT PRIMARY KEY) ENGINE = MyISAM")
    start = log_end(server)
    server.run(
        "BEGIN",
        f"INSERT INTO {table} VALUES (1, 1)",
        "SAVEPOINT `S 1`",
        f"INSERT INTO {table}_m VALUES (1)",
        f"INSERT INTO {table} VALUES (2, 1)",
        "ROLLBACK TO SAVEPOINT `s 1`",
        f"INSERT INTO {table} VALUES (3, 1)",
        "COMMIT",
    )
    assert ids(logged(server, start)) == [1, 1, 3]


def test_rows_of_a_transaction_that_a_dying_server_cut_off_are_not_read(server, table):
    start = log_end(server)
    server.run(f"INSERT INTO {table} VALUES (1, 1)", f"INSERT INTO {table} VALUES (2, 1)")
    with connect(server) as connection:
        whole = list(events(connection, SERVER_ID, start, wait=False))
    ends = [number for number, (_, event) in enumerate(whole) if event.kind is Kind.XID]
    cut = whole[: ends[0]] + whole[ends[0] + 1 :]
    assert ids(transactions(cut, {}, lambda database, name: True, mariadb=True)) == [2]


def test_xa_transactions_stop_the_reader_until_they_are_decided(server, table):
    start = log_end(server)
    server.run("XA START 'one'", f"INSERT INTO {table} VALUES (1, 1)", "XA END 'one'", "XA COMMIT 'one' ONE PHASE")
    assert ids(logged(server, start)) == [1]
    server.run(
        "XA START 'two'", f"INSERT INTO {table} VALUES (2, 1)", "XA END 'two'", "XA PREPARE 'two'", "XA ROLLBACK 'two'"
    )
    with pytest.raises(ValueError, match="rows of an XA transaction"):
        logged(server, start)
    assert ids(logged(server, start, lambda _, name: False)) == []


def test_the_position_after_a_transaction_begins_the_next(server, table):
    start = log_end(server)
    for key in range(5):
        server.run(f"INSERT INTO {table} VALUES ({key}, 1)")
    parts = logged(server, start)
    for number, part in enumerate(parts):
        assert ids(logged(server, part.position)) == list(range(number + 1, 5))


def test_a_transaction_over_several_tables_and_a_mixed_statement(server, table):
    server.run(f"CREATE OR REPLACE TABLE {table}_b LIKE {table}")
    start = log_end(server)
    server.run(
        "BEGIN",
        f"INSERT INTO {table} VALUES (1, 1), (2, 2)",
        f"INSERT INTO {table}_b SELECT * FROM {table}",
        f"INSERT INTO {table} VALUES (1, 9) ON DUPLICATE KEY UPDATE v = 9",
        f"REPLACE INTO {table}_b VALUES (2, 7), (3, 3)",
        f"DELETE {table}, {table}_b FROM {table} JOIN {table}_b USING (id) WHERE id = 1",
        "COMMIT",
    )
    parts = logged(server, start)
    assert len({part.position for part in parts}) == 1
    state = {}
    for part in parts:
        rows = state.setdefault(part.shape.table, {})
        for change in part.changes.to_pylist():
            if change["before"] is not None:
                assert rows.pop(change["before"]["id"]) == change["before"]["v"]
            if change["after"] is not None:
                rows[change["after"]["id"]] = change["after"]["v"]
    assert list(state.values()) == [{2: 2}, {2: 7, 3: 3}]
    numbers = sorted(number for part in parts for number in part.changes.column("number").to_pylist())
    assert numbers == list(range(len(numbers)))


def test_rows_of_tables_without_transactions_are_read(server, table):
    server.run(f"ALTER TABLE {table} ENGINE = MyISAM")
    start = log_end(server)
    server.run(f"INSERT INTO {table} VALUES (1, 1), (2, 2)", f"DELETE FROM {table} WHERE id = 1")
    assert operations(logged(server, start)) == ["i", "i", "d"]


@only_mariadb
def test_tables_that_are_not_wanted_are_passed_over(server, table):
    server.run(f"CREATE OR REPLACE TABLE {table}_json (id INT PRIMARY KEY, t TEXT COMPRESSED)")
    start = log_end(server)
    server.run(f"INSERT INTO {table}_json VALUES (1, 'x')", f"INSERT INTO {table} VALUES (5, 1)")
    assert ids(logged(server, start, lambda _, name: not name.endswith("_json"))) == [5]


@only_mariadb
def test_statements_about_tables_are_read_and_those_about_users_are_not(server, table):
    start = log_end(server)
    server.run(
        "CREATE USER spy IDENTIFIED BY 'secret'",
        f"/* c */ ALTER /* c */ TABLE {table} ADD COLUMN w INT",
        f"SET STATEMENT max_statement_time = 9 FOR TRUNCATE {table}",
        "ANALYZE TABLE mysql.user",
        "SET PASSWORD FOR spy = PASSWORD('secret')",
        f"RENAME TABLE {table} TO {table}_old",
        "DROP USER spy",
    )
    texts = statements(logged(server, start))
    assert texts == [
        f"/* c */ ALTER /* c */ TABLE {table} ADD COLUMN w INT",
        f"SET STATEMENT max_statement_time = 9 FOR TRUNCATE {table}",
        f"RENAME TABLE {table} TO {table}_old",
    ]


@only_mariadb
def test_changes_that_are_logged_as_statements_stop_the_reader(server, table):
    function = f"{table}_f"
    server.run(
        "SET GLOBAL log_bin_trust_function_creators = ON",
        f"CREATE FUNCTION {function}() RETURNS INT BEGIN INSERT INTO {table} VALUES (1, 1); RETURN 1; END",
    )
    for text, word in (
        (f"INSERT INTO {table} VALUES (2, 1)", "INSERT"),
        (f"SELECT {function}()", "SELECT"),
        (f"ANALYZE UPDATE {table} SET v = 7", "ANALYZE"),
        (f"SET STATEMENT max_statement_time = 9 FOR DELETE FROM {table}", "DELETE"),
    ):
        start = log_end(server)
        server.run("SET SESSION binlog_format = 'STATEMENT'", text)
        with pytest.raises(ValueError, match=f"{word} as a statement: the server needs binlog_format=ROW"):
            logged(server, start)
    server.run("SET GLOBAL log_bin_trust_function_creators = OFF")


def test_statements_are_read_in_the_character_set_of_their_client(server):
    server.run("CREATE DATABASE IF NOT EXISTS moves", "USE moves", "CREATE OR REPLACE TABLE 联通 (id INT)")
    start = log_end(server)
    with server.connection("moves", "gbk") as connection, connection.cursor() as cursor:
        cursor.execute("TRUNCATE 联通")
    assert statements(logged(server, start)) == ["TRUNCATE 联通"]


def test_partial_images_and_missing_names_stop_the_reader(server, table):
    for setting, words in (("binlog_row_image = 'MINIMAL'", "binlog_row_image=FULL"),):
        start = log_end(server)
        server.run(
            f"REPLACE INTO {table} VALUES (1, 1)", f"SET SESSION {setting}", f"UPDATE {table} SET v = 2 WHERE id = 1"
        )
        with pytest.raises(ValueError, match=words):
            logged(server, start)
    server.run(f"CREATE TABLE {table}_default (id INT PRIMARY KEY DEFAULT 7)")
    start = log_end(server)
    server.run("SET SESSION binlog_row_image = 'MINIMAL'", f"INSERT INTO {table}_default () VALUES ()")
    with pytest.raises(ValueError, match="0 of 1 columns"):
        logged(server, start)
    start = log_end(server)
    server.run("SET GLOBAL binlog_row_metadata = 'MINIMAL'")
    try:
        server.run(f"REPLACE INTO {table} VALUES (2, 1)")
    finally:
        server.run("SET GLOBAL binlog_row_metadata = 'FULL'")
    with pytest.raises(ValueError, match="binlog_row_metadata=FULL"):
        logged(server, start)


@only_mariadb
def test_compressed_rows_and_statements_are_read(server, table):
    start = log_end(server)
    server.run("SET GLOBAL log_bin_compress = ON", "SET GLOBAL log_bin_compress_min_len = 10")
    try:
        server.run(
            "USE moves",
            f"INSERT INTO {table} SELECT seq, seq FROM seq_1_to_500",
            f"UPDATE {table} SET v = v + 1",
            f"ALTER TABLE {table} COMMENT = '{'x' * 500}'",
            f"DELETE FROM {table} WHERE id > 1",
        )
    finally:
        server.run("SET GLOBAL log_bin_compress = OFF")
    parts = logged(server, start)
    assert operations(parts) == ["i"] * 500 + ["u"] * 500 + ["d"] * 499
    assert [row["v"] for row in rows_of(parts)[:1000]] == [*range(1, 501), *range(2, 502)]
    assert len(statements(parts)) == 1


NAME = b"\x07\0\0\0\0\0" + b"\1\0" + b"\4shop\0" + b"\1t\0"
UNKNOWN = NAME + b"\1" + bytes([99]) + b"\0\0"
"""A table whose only column has a type that is unknown here."""
KNOWN = NAME + b"\1\3\0\0" + b"\4\3\2id"


def test_a_table_that_cannot_be_read_stops_no_other():
    """MySQL logs differences inside JSON as rows of their own (39). A transaction may begin with a tagged GTID (42)."""
    place = LogPosition("bin.000001", 100)

    def read(table, wanted):
        bodies = {Kind.GTID_TAGGED: b"", Kind.HEARTBEAT_V2: b"", Kind.TABLE_MAP: table}
        bodies |= {Kind.PARTIAL_UPDATE_ROWS: table, Kind.XID: b"12345678"}
        log = [(place, Event(0, kind, 100, body)) for kind, body in bodies.items()]
        return list(transactions(log, {}, lambda database, name: wanted, mariadb=False))

    assert read(UNKNOWN, wanted=False) == read(KNOWN, wanted=False) == []
    for table, reason in (
        (UNKNOWN, "a column of the type 99, which is unknown here"),
        (KNOWN, "changes inside JSON documents: the server needs an empty binlog_row_value_options"),
    ):
        assert read(table, wanted=True) == [Unreadable(place, 0, "shop", "t", reason)]

"""Keys of a server as record keys: which rows are one, and what cannot be a key."""

from __future__ import annotations

import os

import pytest

from hoodie.errors import ConfigError, RecordKeyError
from hudi_services.sources.cdc.mysql.binlog.decoding import Choices
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def database(server):
    server.run("CREATE DATABASE keys_", "SET GLOBAL sql_mode = ''")
    yield "keys_"
    server.run("SET GLOBAL sql_mode = DEFAULT")


def loaded(server, target, table, as_text=()):
    load(server, "keys_", target, table, choices=Choices(as_text=frozenset(as_text))).run()
    return lake_rows(target)


def test_bytes_and_instants_are_keys_as_text(server, database, tmp_path):
    target = str(tmp_path / "lake")
    columns = "a BINARY(4), b VARBINARY(9), c BIT(12), d TIMESTAMP(2), e BLOB, v INT"
    server.run(
        f"CREATE TABLE keys_.t ({columns}, PRIMARY KEY (a, b, c, d, e(3)))",
        "SET time_zone = '+00:00'",
        "INSERT INTO keys_.t VALUES (x'01', '', 5, '2020-01-02 03:04:05.6', 'abcdef', 1),"
        " (x'00', x'00', b'111111111111', '2038-01-19 03:14:07.99', '', 2), (x'ff00ff00', x'0000', 0, 0, x'ff', 3)",
    )
    for known in ((), ("a", "b", "c")):
        with pytest.raises(ConfigError, match=rf"load it as text: --as-text {'d' if known else 'a'}"):
            loaded(server, target, "t", known)
    assert not os.path.exists(target)
    with pytest.raises(
        ConfigError, match=r"no column 'v' that --as-text may read\. Found: columns of bytes and of dates: a"
    ):
        loaded(server, target, "t", ("a", "v"))
    text = ("a", "b", "c", "d", "e")
    assert len(loaded(server, target, "t", text)) == 3
    server.run(
        "SET time_zone = '+00:00'",
        "UPDATE keys_.t SET b = x'00ab' WHERE v = 3",
        "UPDATE keys_.t SET e = 'abcxyz', v = 4 WHERE v = 1",
        "INSERT INTO keys_.t VALUES (x'02', x'02', 1, '1970-01-01 00:00:01', REPEAT('é', 200), NULL)",
        "DELETE FROM keys_.t WHERE v = 2",
    )
    with pytest.raises(ConfigError, match="'a' is string in the table, and binary in the rows"):
        loaded(server, target, "t")
    printed = "HEX(a), HEX(b), HEX(CAST(c AS BINARY)), CONCAT(d), HEX(e), v"
    assert loaded(server, target, "t", text) == server_rows(server, database, "t", printed)


def test_keys_that_a_collation_takes_for_one_are_several_in_the_lake(server, database, tmp_path):
    """The server has `a` or `A`, `b` or `b ` at a time, and logs the row as it was stored."""
    target = str(tmp_path / "lake")
    server.run(
        "CREATE TABLE keys_.c (a VARCHAR(9) COLLATE utf8mb4_general_ci, b CHAR(5), v INT, PRIMARY KEY (a, b))",
        "INSERT INTO keys_.c VALUES ('a', 'x', 0), ('b', 'x ', 0), ('c', '', 0), ('', '', 0)",
    )
    with pytest.raises(RecordKeyError, match="Record key a, b is null or empty"):
        loaded(server, target, "c")
    server.run("UPDATE keys_.c SET a = 'É' WHERE a = ''")
    loaded(server, target, "c")
    server.run(
        "UPDATE keys_.c SET a = 'A' WHERE a = 'a'",
        "INSERT INTO keys_.c VALUES ('B', 'X', 5) ON DUPLICATE KEY UPDATE a = 'B ', v = 6",
        "REPLACE INTO keys_.c VALUES ('C ', '', 7)",
        "UPDATE keys_.c SET a = 'e  ', v = v + 1 WHERE a = 'e'",
        "BEGIN",
        "DELETE FROM keys_.c WHERE a = 'a'",
        "INSERT INTO keys_.c VALUES ('a ', 'X', 8)",
        "COMMIT",
    )
    rows = loaded(server, target, "c")
    assert rows == server_rows(server, database, "c")
    assert [row[0] for row in rows] == ["B ", "C ", "a ", "e  "]


def test_rows_whose_keys_only_look_alike_stop_the_load(server, database, tmp_path):
    target = str(tmp_path / "lake")
    server.run("CREATE TABLE keys_.p (a VARCHAR(9), b VARCHAR(9), PRIMARY KEY (a, b))")
    loaded(server, target, "p")
    server.run("INSERT INTO keys_.p VALUES ('x,b:y', 'z'), ('x', 'y,b:z')")
    with pytest.raises(RecordKeyError, match="have one record key"):
        loaded(server, target, "p")
    assert lake_rows(target) == []

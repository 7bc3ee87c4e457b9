"""A second server that has the transactions of the first continues for it."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from tests.support.mariadb import MariaDB
from tests.support.matrix import other_server
from tests.support.mysql_server import MySQL
from tests.support.waiting import until
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process


def gtids(server):
    with server.connection() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@gtid_executed" if server.name == "mysql" else "SELECT @@gtid_binlog_pos")
        return cursor.fetchall()[0][0]


def replicated_mariadb():
    first = MariaDB()
    second = MariaDB({"server-id": "2", "log-slave-updates": "ON", "log-bin": "other"})
    first.run("CREATE USER replica IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO replica", "RESET MASTER")
    second.run(
        "RESET MASTER",
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={first.port}, MASTER_USER='replica', "
        "MASTER_PASSWORD='x', MASTER_USE_GTID=slave_pos",
        "START SLAVE",
    )
    return first, second


def replicated_mysql():
    first, second = MySQL(), MySQL({"server-id": "2", "log-bin": "other"})
    first.run("CREATE USER replica IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO replica")
    first.run("RESET BINARY LOGS AND GTIDS")
    second.run(
        "RESET BINARY LOGS AND GTIDS",
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={first.port}, SOURCE_USER='replica', "
        "SOURCE_PASSWORD='x', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1",
        "START REPLICA",
    )
    return first, second


@pytest.fixture(params=["mariadb", pytest.param("mysql", marks=other_server)])
def pair(request):
    """A server and its replica, whose log has other files."""
    first, second = replicated_mariadb() if request.param == "mariadb" else replicated_mysql()
    yield first, second
    first.stop()
    second.stop()


def fail_over(first, second):
    """Let the replica take what the first server has, and become a server of its own."""
    until(lambda: gtids(second) == gtids(first))
    words = "REPLICA" if second.name == "mysql" else "SLAVE"
    second.run(f"STOP {words}", f"RESET {words} ALL")


def test_a_replica_goes_on_where_its_source_was(pair, tmp_path):
    first, second = pair
    target = str(tmp_path / "lake")
    first.run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 1)")
    load(first, "d", target).run()
    first.run("INSERT INTO d.t VALUES (2, 2)", "FLUSH BINARY LOGS", "UPDATE d.t SET v = 9 WHERE id = 1")
    fail_over(first, second)
    second.run("DELETE FROM d.t WHERE id = 2", "INSERT INTO d.t VALUES (3, 3)")
    result = load(second, "d", target).run()
    assert (result.rows, result.changes) == (0, 4)
    assert lake_rows(target) == server_rows(second, "d")
    second.run("INSERT INTO d.t VALUES (4, 4)")
    assert load(second, "d", target).run().changes == 1
    assert load(second, "d", target).run().commits == 0
    first.run("INSERT INTO d.t VALUES (4, 5)")  # the old server comes back, with transactions of its own
    with pytest.raises(SourceError, match="does not continue at other"):
        load(first, "d", target).run()


@pytest.mark.parametrize("pair", [pytest.param("mysql", marks=other_server)], indirect=True)
def test_a_replica_goes_on_after_transactions_with_tags(pair, tmp_path):
    first, second = pair
    target = str(tmp_path / "lake")
    first.run(
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "SET gtid_next = 'AUTOMATIC:lake'",
        "INSERT INTO d.t VALUES (1, 1)",
    )
    load(first, "d", target).run()
    first.run("SET gtid_next = 'AUTOMATIC:backup'", "INSERT INTO d.t VALUES (2, 2)", "FLUSH BINARY LOGS")
    load(first, "d", target).run()
    first.run(
        "SET gtid_next = 'AUTOMATIC:lake'",
        "UPDATE d.t SET v = 9 WHERE id = 1",
        "SET gtid_next = 'AUTOMATIC'",
        "INSERT INTO d.t VALUES (3, 3)",
    )
    fail_over(first, second)
    second.run("SET gtid_next = 'AUTOMATIC:lake'", "DELETE FROM d.t WHERE id = 2")
    result = load(second, "d", target).run()
    assert (result.rows, result.changes) == (0, 3)
    assert lake_rows(target) == server_rows(second, "d") == [(1, 9), (3, 3)]
    first.run("SET gtid_next = 'AUTOMATIC:lake'", "INSERT INTO d.t VALUES (4, 5)")
    with pytest.raises(SourceError, match="does not continue at other"):
        load(first, "d", target).run()


def test_a_replica_that_is_behind_or_has_diverged_stops_the_load(pair, tmp_path):
    first, second = pair
    target = str(tmp_path / "lake")
    first.run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
    fail_over(first, second)
    first.run("INSERT INTO d.t VALUES (1, 1)")
    load(first, "d", target).run()
    for statement in ("SELECT 1", "INSERT INTO d.t VALUES (1, 2)", "INSERT INTO d.t VALUES (2, 2)"):
        second.run(statement)
        with pytest.raises(SourceError, match="does not continue at bin"):
            load(second, "d", target).run()
    assert lake_rows(target) == [(1, 1)]
    load(second, "d", target).run(start_fresh=True)
    assert lake_rows(target) == server_rows(second, "d")

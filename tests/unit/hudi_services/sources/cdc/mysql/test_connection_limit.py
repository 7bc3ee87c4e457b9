"""How many connections loads have at once, by a user to whom the server gives no more."""

from __future__ import annotations

import pymysql
import pytest

from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.errors import SourceUnavailableError
from hoodie.storage import open_storage
from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.mysql import connection as connections
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.server_sync import ServerSync
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

pytestmark = pytest.mark.process


@pytest.fixture
def opened(monkeypatch):
    """How many connections of a load were open whenever one was added."""
    all_made, counts, connect = [], [], pymysql.connect

    def counted(**given):
        made = connect(**given)
        if given["user"] != "root":
            all_made.append(made)
            counts.append(sum(known.open for known in all_made))
        return made

    monkeypatch.setattr(pymysql, "connect", counted)
    return counts


@pytest.fixture
def small(server, monkeypatch):
    """Chunks of two rows, four rows in a commit, and a new file of the log before each chunk."""
    for name, value in {"GROUP_ROWS": 4, "CHUNK_ROWS": 2}.items():
        monkeypatch.setattr(snapshot_load, name, value)
    read = snapshot_load.read_chunk

    def rotated(connection, source, chunk):
        server.run("FLUSH BINARY LOGS")
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", rotated)


def environ(server, count):
    """A user who may have `count` connections."""
    name = f"few{count}"
    server.run(
        f"CREATE OR REPLACE USER {name} IDENTIFIED BY 'few' WITH MAX_USER_CONNECTIONS {count}",
        f"GRANT REPLICATION SLAVE, BINLOG MONITOR, SELECT ON *.* TO {name}",
    )
    return {"AIRFLOW_CONN_SHOP": f"mysql://{name}:few@127.0.0.1:{server.port}"}


def made(server, database, **rows):
    server.run(f"CREATE DATABASE {database}", f"USE {database}")
    for table, count in rows.items():
        server.run(
            f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY, v INT)",
            f"INSERT INTO {database}.{table} SELECT seq, seq FROM {database}.seq_1_to_{count}",
        )


def target(database, table, folder):
    source = TableSource("shop", database, table, statements=StatementPolicies(truncate="apply", alter="apply"))
    return TargetTable(source, str(folder / table), SMALL_BLOOM, LocalEngine(1))


def test_a_sync_of_large_and_small_tables_has_five(server, small, opened, tmp_path):
    rows = {"big": 30, "large": 20, **{f"t{number}": 3 for number in range(6)}}
    made(server, "five", **rows)
    targets = [target("five", table, tmp_path) for table in rows]
    cuts = CutStore(open_storage(str(tmp_path / "state")), "shop")
    sync = ServerSync("shop", DECLARED, environ(server, 5), targets, cuts, SystemClock())

    def states():
        return {table.state for table in sync.run().tables.values()}

    assert states() == {"current"}
    assert max(opened) <= 5
    server.run(
        "USE five", "FLUSH BINARY LOGS", "UPDATE t1 SET v = 0", "ALTER TABLE big MODIFY v INT NOT NULL DEFAULT 1"
    )
    server.run("UPDATE five.big SET v = 7")
    assert states() == {"current"}
    assert max(opened) <= 5
    for table in rows:
        assert lake_rows(str(tmp_path / table)) == server_rows(server, "five", table)


def test_a_load_has_one_more_than_its_sessions(server, small, opened, tmp_path):
    made(server, "three", t=30)
    load = TableLoad(DECLARED, environ(server, 3), target("three", "t", tmp_path), sessions=2)
    load.run()
    assert max(opened) <= 3
    server.run("FLUSH BINARY LOGS", "UPDATE three.t SET v = 0")
    load.run(start_fresh=True)
    assert max(opened) <= 3
    assert lake_rows(str(tmp_path / "t")) == server_rows(server, "three", "t")


def test_connections_past_the_limit_are_tried_for_a_while(server, monkeypatch):
    pauses, given = [], environ(server, 1)
    monkeypatch.setattr(connections.time, "sleep", pauses.append)
    first = connected("shop", DECLARED, given)
    first.__enter__()
    second = connected("shop", DECLARED, given)
    with pytest.raises(SourceUnavailableError, match="takes no more connections"):
        second.__enter__()
    assert sum(pauses) > 1
    monkeypatch.setattr(connections.time, "sleep", lambda _: first.__exit__(None, None, None))
    with connected("shop", DECLARED, given):
        pass

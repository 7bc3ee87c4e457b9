"""A table of a real server in a Hudi table: after each run its rows are those of the server."""

from __future__ import annotations

import random
import shutil
import time

import pyarrow as pa
import pytest

from hoodie import ARCHIVE, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, PendingInstantError, SourceError
from hoodie.sql import connect
from hudi_services.sources.cdc.mysql import target_batch
from hudi_services.sources.cdc.mysql.binlog import transaction_batch
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from tests.support.binlog import DECLARED
from tests.support.faulty import FaultyStorage, Killed
from tests.support.mariadb import MariaDB, only_mariadb
from tests.support.matrix import DEEP
from tests.support.tables import SMALL_BLOOM
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.process


def load(server, database, target, table="t", options=None, environ=None, *, ignore_cascades=False, choices=PLAIN):
    environ = environ or {"AIRFLOW_CONN_SHOP": server.url}
    source = TableSource("shop", database, table, ignore_cascades, choices)
    return TableLoad(DECLARED, environ, TargetTable(source, target, {**SMALL_BLOOM, **(options or {})}, LocalEngine(1)))


def lake_rows(target):
    rows = HoodieTable.open(target, engine=LocalEngine(1)).read()
    names = [name for name in rows.column_names if not name.startswith("_hoodie_")]
    return sorted((tuple(row.values()) for row in rows.select(names).to_pylist()), key=str)


def server_rows(server, database, table="t", columns="*"):
    connection = server.connection(database)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {columns} FROM `{table}`")
            return sorted(cursor.fetchall(), key=str)
    finally:
        connection.close()


@pytest.fixture
def database(server, request):
    name = f"load_{request.node.name.partition('[')[0][:40]}_{random.Random(request.node.name).randrange(10**6)}"
    server.run(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v VARCHAR(20), n DECIMAL(8,2))")
    return name


def random_transaction(draw):
    key, other = draw.randrange(30), draw.randrange(30)
    statements = [
        f"INSERT INTO t VALUES ({key}, 'i{draw.randrange(100)}', {draw.randrange(1000)}) ON DUPLICATE KEY UPDATE v = 'again'",
        f"UPDATE t SET v = CONCAT('u', id), n = NULL WHERE id BETWEEN {key} AND {key + 5}",
        f"DELETE FROM t WHERE id = {key}",
        f"UPDATE IGNORE t SET id = {other} WHERE id = {key}",
        f"REPLACE INTO t VALUES ({key}, NULL, 1), ({other}, 'r', NULL)",
        "DELETE FROM t WHERE id % 7 = 3",
        f"UPDATE t SET id = id + 1000 WHERE id = {key} AND {key} % 3 = 0",
    ]
    return ["BEGIN", *draw.choices(statements, k=draw.randint(1, 5)), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"])]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_random_transactions_leave_the_rows_of_the_server(server, database, tmp_path, kind):
    draw = random.Random(kind)
    target, options = str(tmp_path / "lake"), {"hoodie.table.type": kind}
    server.run(f"USE {database}", *random_transaction(draw), *random_transaction(draw))
    for _ in range(6):
        load(server, database, target, options=options).run()
        assert lake_rows(target) == server_rows(server, database)
        for _ in range(draw.randrange(12)):
            server.run(f"USE {database}", *random_transaction(draw))
    assert load(server, database, target).run().rows == 0


def test_a_run_that_is_killed_goes_on_where_it_was(server, database, tmp_path):
    draw = random.Random(1)
    server.run(f"USE {database}", "INSERT INTO t SELECT seq, seq, seq FROM seq_1_to_20")
    empty, loaded = tmp_path / "empty", tmp_path / "loaded"
    empty.mkdir()
    load(server, database, str(loaded)).run()
    for _ in range(10):
        server.run(f"USE {database}", *random_transaction(draw))
    expected = server_rows(server, database)
    for origin in (empty, loaded):
        for fail_at in range(1, 400, 4 if DEEP else 7):
            path = tmp_path / "run"
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(origin, path)
            storage = FaultyStorage(path, fail_at, "kill", False)
            try:
                load(server, database, storage).run()
            except Killed:
                load(server, database, str(path)).run()
                assert lake_rows(str(path)) == expected, (origin.name, fail_at)
            else:
                assert fail_at > 20
                break


def test_two_runs_at_once_apply_nothing_twice(server, database, tmp_path):
    target = str(tmp_path / "lake")
    load(server, database, target).run()
    server.run(f"INSERT INTO {database}.t VALUES (1, 'a', 1)")

    class Late(LogPositions):
        def stored_position(self, control, source, place):
            load(server, database, target).run()
            return super().stored_position(control, source, place)

    first = load(server, database, target)
    first._positions.__class__ = Late
    with pytest.raises(PendingInstantError, match="Another writer committed"):
        first.run()
    assert len(HoodieTable.open(target).timeline.commits) == 2
    assert lake_rows(target) == server_rows(server, database)


def test_statements_that_change_rows_unlogged_stop_the_load_until_it_starts_fresh(server, database, tmp_path):
    target = str(tmp_path / "lake")
    server.run(f"INSERT INTO {database}.t VALUES (1, 'a', 1), (2, 'b', 2)")
    load(server, database, target).run()
    server.run(
        f"INSERT INTO {database}.t VALUES (3, 'c', 3)",
        f"TRUNCATE {database}.t",
        f"INSERT INTO {database}.t VALUES (4, 'd', 4)",
    )
    for _ in range(2):
        with pytest.raises(SourceError, match="start-fresh"):
            load(server, database, target).run()
        assert [row[0] for row in lake_rows(target)] == [1, 2, 3]
    load(server, database, target).run(start_fresh=True)
    assert lake_rows(target) == server_rows(server, database)


def test_columns_that_are_added_and_dropped_go_along(server, database, tmp_path):
    target = str(tmp_path / "lake")
    server.run(f"INSERT INTO {database}.t VALUES (1, 'a', 1)")
    load(server, database, target).run()
    server.run(
        f"INSERT INTO {database}.t VALUES (2, 'b', 2)",
        f"ALTER TABLE {database}.t ADD COLUMN w BIGINT AFTER id, ADD INDEX (v)",
        f"INSERT INTO {database}.t VALUES (3, 7, 'c', 3)",
        f"ALTER TABLE {database}.t DROP COLUMN n",
        f"INSERT INTO {database}.t VALUES (4, 8, 'd')",
    )
    result = load(server, database, target).run()
    assert (result.changes, result.commits) == (3, 3)
    rows = HoodieTable.open(target).read(columns=["id", "w", "v"]).to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == server_rows(server, database)


def purge(server, file):
    """The server keeps a file until its engines have stored all of it, and says nothing."""
    deadline = time.monotonic() + PATIENCE
    connection = server.connection()
    with connection.cursor() as cursor:
        while True:
            cursor.execute(f"PURGE BINARY LOGS TO '{file}'")
            cursor.execute("SHOW BINARY LOGS")
            if cursor.fetchall()[0][0] == file:
                break
            assert time.monotonic() < deadline
            time.sleep(0.1)
    connection.close()


def test_a_log_that_is_another_stops_the_load(server, tmp_path):
    own = MariaDB()
    try:
        own.run("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
        purged, reset = str(tmp_path / "purged"), str(tmp_path / "reset")
        load(own, "d", purged).run()
        own.run("INSERT INTO d.t VALUES (2)", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
        purge(own, "bin.000003")
        with pytest.raises(SourceError, match="does not continue at bin"):
            load(own, "d", purged).run()
        load(own, "d", purged).run(start_fresh=True)
        assert lake_rows(purged) == [(1,), (2,)]
        load(own, "d", reset).run()
        own.run("RESET MASTER", *(f"INSERT INTO d.t VALUES ({key})" for key in range(10, 40)))
        with pytest.raises(SourceError, match="does not continue at bin"):
            load(own, "d", reset).run()
        own.run("RESET MASTER", "INSERT INTO d.t VALUES (50)")
        load(own, "d", reset).run(start_fresh=True)
        time.sleep(1.1)  # files know the second in which they began
        own.run("RESET MASTER", "INSERT INTO d.t VALUES (51)")  # the same place and the same GTID
        with pytest.raises(SourceError, match="does not continue at bin"):
            load(own, "d", reset).run()
    finally:
        own.stop()


def test_tables_of_other_contents_and_keys_that_are_missing_are_refused(server, database, tmp_path):
    other, target = str(tmp_path / "other"), str(tmp_path / "lake")
    server.run(f"CREATE TABLE {database}.u (id INT, v INT)", f"INSERT INTO {database}.u VALUES (1, 1)")
    with pytest.raises(ConfigError, match="has no key"):
        load(server, database, other, "u").run()
    load(server, database, other, "u", {"hoodie.table.recordkey.fields": "id"}).run()
    with pytest.raises(ConfigError, match=r"loaded from another source than shop/\w+\.t"):
        load(server, database, other).run()
    table = HoodieTable.create(target, {"hoodie.table.name": "x", "hoodie.table.recordkey.fields": "id"})
    table.write(pa.table({"id": [1]}), "insert", SMALL_BLOOM)
    with pytest.raises(ConfigError, match="holds other rows"):
        load(server, database, target).run()


@only_mariadb
def test_tables_whose_changes_are_not_all_logged_are_refused(server, database, tmp_path):
    server.run(
        f"CREATE TABLE {database}.c (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id) ON DELETE CASCADE)",
        f"CREATE TABLE {database}.p (id INT PRIMARY KEY) WITH SYSTEM VERSIONING",
        f"INSERT INTO {database}.t VALUES (1, 'a', 1)",
        f"INSERT INTO {database}.c VALUES (1, 1), (2, NULL)",
    )
    for table, words in (("c", "--ignore-cascades"), ("p", "WITH SYSTEM VERSIONING")):
        with pytest.raises(ConfigError, match=words):
            load(server, database, str(tmp_path / table), table).run()
    assert load(server, database, str(tmp_path / "c"), "c", ignore_cascades=True).run().rows == 2
    server.run("SET GLOBAL binlog_row_image = 'MINIMAL'")
    try:
        with pytest.raises(ConfigError, match="binlog_row_image"):
            load(server, database, str(tmp_path / "t")).run()
    finally:
        server.run("SET GLOBAL binlog_row_image = 'FULL'")


def test_a_column_that_comes_and_goes_in_one_run_stops_it(server, database, tmp_path):
    target = str(tmp_path / "lake")
    load(server, database, target).run()
    server.run(
        f"ALTER TABLE {database}.t ADD w INT",
        f"INSERT INTO {database}.t VALUES (1, 'a', 1, 5)",
        f"ALTER TABLE {database}.t DROP w",
        f"ALTER TABLE {database}.t ADD w INT",
        f"INSERT INTO {database}.t VALUES (2, 'a', 1, 6)",
    )
    with pytest.raises(SourceError, match="without logging them"):
        load(server, database, target).run()
    load(server, database, target).run(start_fresh=True)
    assert lake_rows(target) == server_rows(server, database)


def test_an_empty_table_is_loaded_and_filled(server, database, tmp_path):
    target = str(tmp_path / "lake")
    load(server, database, target).run()
    assert lake_rows(target) == []
    server.run(f"INSERT INTO {database}.t VALUES (1, 'a', 1)")
    load(server, database, target).run()
    assert lake_rows(target) == server_rows(server, database)
    server.run(f"TRUNCATE {database}.t")
    load(server, database, target).run(start_fresh=True)
    assert lake_rows(target) == []


def test_a_row_without_values_in_its_partition_is_deleted(server, database, tmp_path):
    target, options = str(tmp_path / "lake"), {"hoodie.table.partition.fields": "v"}
    server.run(f"INSERT INTO {database}.t VALUES (1, NULL, NULL), (2, 'a', 1), (3, NULL, NULL)")
    load(server, database, target, options=options).run()
    server.run(f"DELETE FROM {database}.t WHERE id = 1", f"UPDATE {database}.t SET v = 'b' WHERE id = 3")
    load(server, database, target, options=options).run()
    assert lake_rows(target) == server_rows(server, database)


def test_other_databases_of_the_server_do_not_count(server, database, tmp_path):
    one = load(server, database, str(tmp_path / "lake"))
    one.server = one.server.model_copy(update={"databases": (database, "nowhere")})
    assert one.run().commits == 1


def test_commits_of_others_and_an_archival_do_not_hide_the_position(server, database, tmp_path):
    """SQL writes every commit that the archival leaves on the timeline."""
    target = str(tmp_path / "lake")
    server.run(f"INSERT INTO {database}.t VALUES (1, 'a', 1)")
    position = load(server, database, target).run().position
    with connect(tmp_path) as lake:
        for number in range(4):
            lake.sql(f"UPDATE lake SET v = 'sql {number}' WHERE id = 1")
    short = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
    assert HoodieTable.open(target).run(ARCHIVE, short).instants
    assert load(server, database, target).target.stored_position().position == position
    server.run(f"UPDATE {database}.t SET n = 2")
    result = load(server, database, target).run()
    assert (result.rows, result.changes) == (0, 1)
    assert lake_rows(target) == server_rows(server, database)


def test_long_changes_are_written_before_there_are_many(server, database, tmp_path, monkeypatch):
    target = str(tmp_path / "lake")
    load(server, database, target).run()
    monkeypatch.setattr(target_batch, "BYTES", 1_000)
    monkeypatch.setattr(transaction_batch, "_BYTES", 500)
    server.run(*(f"INSERT INTO {database}.t VALUES ({key}, REPEAT('x', 20), 1)" for key in range(40)))
    assert load(server, database, target).run().commits > 1
    assert lake_rows(target) == server_rows(server, database)

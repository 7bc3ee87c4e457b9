"""Snapshots in chunks: killed anywhere, with changes between any two statements, the table ends equal to its source."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager
from dataclasses import replace

import pymysql
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target_table import TargetTable
from hudi_services.sources.cdc.row_filter import RowFilter
from tests.support.binlog import DECLARED, log_end
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.process

WORDS = ("", "a", "A b", "ä", "b", "B'", "\\", "ß", "z", "ﬀ", "%s", "é")


def load(server, database, target, options=None, sessions=2, lines=None):
    table = TargetTable(TableSource("shop", database, "t"), target, {**SMALL_BLOOM, **(options or {})}, LocalEngine(1))
    report = (lines if lines is not None else []).append
    return TableLoad(DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, table, sessions=sessions, report=report)


def lake_rows(target):
    rows = HoodieTable.open(target, engine=LocalEngine(1)).read()
    names = [name for name in rows.column_names if not name.startswith("_hoodie_")]
    return sorted((tuple(row.values()) for row in rows.select(names).to_pylist()), key=str)


def server_rows(server, database):
    connection = server.connection(database)
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM t")
        return sorted(cursor.fetchall(), key=str)


def stored(load):
    return load.target.stored_position()


@pytest.fixture
def small(monkeypatch):
    """Chunks of three rows, seven rows in a commit."""
    for name, value in {"GROUP_ROWS": 7, "CHUNK_ROWS": 3}.items():
        monkeypatch.setattr(snapshot_load, name, value)


def made(server, database, rows=40):
    draw = random.Random(database)
    values = {
        (draw.choice(WORDS).lower().replace("ä", "a").replace("é", "e"), number % 13) for number in range(rows * 3)
    }
    server.run(
        f"CREATE DATABASE {database}",
        f"CREATE TABLE {database}.t (a VARCHAR(9) COLLATE utf8mb4_general_ci, b INT, v VARCHAR(30), PRIMARY KEY (a, b))",
        f"USE {database}",
        *(f"INSERT IGNORE INTO t VALUES ({quote(a)}, {b}, 'old')" for a, b in sorted(values)[:rows]),
    )


def quote(text):
    return f"'{pymysql.converters.escape_string(text)}'"


def random_transaction(draw):
    def key():
        return quote(draw.choice(WORDS)), draw.randrange(13)

    (a, b), (c, d) = key(), key()
    statements = [
        f"INSERT INTO t VALUES ({a}, {b}, 'i{draw.randrange(99)}') ON DUPLICATE KEY UPDATE v = 'again'",
        f"UPDATE t SET v = 'u{draw.randrange(99)}' WHERE b = {b}",
        f"UPDATE IGNORE t SET a = {c}, b = {d} WHERE a = {a} AND b = {b}",
        f"UPDATE IGNORE t SET a = {c} WHERE b = {b}",
        f"DELETE FROM t WHERE a = {a} AND b = {b}",
        f"DELETE FROM t WHERE b = {b} AND v LIKE 'u%'",
        f"REPLACE INTO t VALUES ({a}, {b}, NULL), ({c}, {d}, 'r')",
    ]
    return ["BEGIN", *draw.choices(statements, k=draw.randint(1, 3)), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"])]


@contextmanager
def changes_between_statements(server, database, draw, monkeypatch):
    """Other clients change rows before statements of the load, in all of its sessions."""
    execute = pymysql.connections.Connection._execute_command
    writer, lock = server.connection(database), threading.Lock()

    def changed(connection, command, sql):
        if connection.user == b"lake":
            with lock, writer.cursor() as cursor:
                for statement in random_transaction(draw) if draw.random() < 0.4 else ():
                    cursor.execute(statement)
        return execute(connection, command, sql)

    with monkeypatch.context() as patch:
        patch.setattr(pymysql.connections.Connection, "_execute_command", changed)
        yield
    writer.close()


@pytest.mark.parametrize("seed", sample(range(4), 0, 1))  # of each table type one
def test_changes_between_statements_and_kills_leave_the_rows_of_the_server(server, small, tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    database = f"chunked_{seed}"
    options = {"hoodie.table.type": ("COPY_ON_WRITE", "MERGE_ON_READ")[seed % 2]}
    made(server, database)
    target = str(tmp_path / "lake")
    kills, inside = 0, False
    with changes_between_statements(server, database, draw, monkeypatch):
        while True:
            storage = FaultyStorage(target, draw.randrange(10, 90) if kills < 6 or not inside else None, "kill")
            try:
                load(server, database, storage, options, sessions=draw.randint(1, 3)).run()
                break
            except Killed:
                kills += 1
                position = stored(load(server, database, target))
                inside = inside or (position is not None and position.snapshot is not None)
    assert inside
    last = load(server, database, target, options)
    last.run()
    assert stored(last).snapshot is None
    assert lake_rows(target) == server_rows(server, database)


def changed_before_chunks(server, database, monkeypatch, *statements):
    """One of `statements` runs before each chunk. The list that is returned gets the keys at which chunks end."""
    left, ends = list(statements), []
    read = snapshot_load.read_chunk

    def changed(connection, source, chunk):
        ends.append(chunk.up_to)
        if left:
            server.run(f"USE {database}", left.pop(0))
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", changed)
    return ends


def simple(server, database, rows, more=""):
    server.run(
        f"CREATE DATABASE {database}",
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(20) NOT NULL {more})",
        f"INSERT INTO {database}.t SELECT seq, 100 - seq FROM {database}.seq_1_to_{rows}",
    )


def test_the_table_is_equal_from_the_place_of_the_last_chunk_on(server, small, tmp_path, monkeypatch):
    simple(server, "marked", 10)
    target, begin = str(tmp_path / "lake"), log_end(server)
    changes = (
        "UPDATE t SET id = 50 WHERE id = 2",
        "DELETE FROM t WHERE id = 9",
        "UPDATE t SET v = 'x' WHERE id IN (3, 10)",
    )
    changed_before_chunks(server, "marked", monkeypatch, *changes, "INSERT INTO t VALUES (60, 'y')")
    first = load(server, "marked", target, sessions=1)
    result = first.run(until=begin)
    high = log_end(server)
    assert (result.commits, result.catching_up) == (2, str(high))
    assert not stored(first).is_loading
    assert lake_rows(target) != server_rows(server, "marked")
    second = load(server, "marked", target)
    result = second.run(until=high)
    assert (result.changes, result.catching_up, stored(second).position) == (5, "", str(high))
    assert lake_rows(target) == server_rows(server, "marked")


def test_a_snapshot_without_changes_is_marked_as_equal_by_a_commit(server, small, tmp_path):
    simple(server, "quiet", 10)
    lines = []
    one = load(server, "quiet", str(tmp_path / "lake"), lines=lines)
    result = one.run()
    assert (result.rows, result.changes, result.commits, stored(one).snapshot) == (10, 0, 3, None)
    assert lake_rows(str(tmp_path / "lake")) == server_rows(server, "quiet")
    assert "quiet.t has about" in lines[0]
    assert lines[2].startswith("10 of about")


@pytest.mark.parametrize(("rows", "commits"), [(7, 1), (8, 2)])
def test_a_table_that_fits_into_one_commit_is_read_in_one_transaction(server, small, tmp_path, rows, commits):
    simple(server, f"fits_{rows}", rows)
    assert load(server, f"fits_{rows}", str(tmp_path / "lake")).run().commits == commits


def test_readers_see_the_old_rows_until_a_fresh_start_has_all_new_ones(server, small, tmp_path, monkeypatch):
    simple(server, "fresh", 10)
    target = str(tmp_path / "lake")
    load(server, "fresh", target).run()
    old = lake_rows(target)
    server.run("TRUNCATE fresh.t", "INSERT INTO fresh.t SELECT seq, 'new' FROM fresh.seq_5_to_30")
    with pytest.raises(SourceError, match="start-fresh"):
        load(server, "fresh", target).run()
    seen = []
    read = snapshot_load.read_chunk

    def watched(connection, source, chunk):
        seen.append(lake_rows(target) == old)
        server.run(f"UPDATE fresh.t SET id = {100 + len(seen)} WHERE id = {4 + 2 * len(seen)}")
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", watched)
    with pytest.raises(Killed):
        load(server, "fresh", FaultyStorage(target, 30, "kill")).run(start_fresh=True)
    assert lake_rows(target) == old
    result = load(server, "fresh", target).run(start_fresh=True)
    assert (result.commits, all(seen), len(seen) > 9) == (2, True, True)
    assert lake_rows(target) == server_rows(server, "fresh")


def test_chunks_go_by_the_key_that_becomes_the_record_key(server, small, tmp_path, monkeypatch):
    """By another key, a row that moves from a chunk to a later one would be there twice."""
    simple(server, "other_key", 12, ", UNIQUE (v)")
    target = str(tmp_path / "lake")
    changed_before_chunks(server, "other_key", monkeypatch, "DO 0", "UPDATE t SET id = id + 50 WHERE id IN (1, 12)")
    options = {"hoodie.table.recordkey.fields": "v"}
    load(server, "other_key", target, options, sessions=1).run()
    assert lake_rows(target) == server_rows(server, "other_key")


@pytest.mark.parametrize("statement", ["ALTER TABLE t ADD w INT", "TRUNCATE t", "ALTER TABLE t ADD INDEX (v)"])
def test_statements_about_the_table_inside_its_snapshot(server, small, tmp_path, monkeypatch, statement):
    database = f"inside_{len(statement)}"
    simple(server, database, 30)
    target = str(tmp_path / "lake")
    with monkeypatch.context() as patch:
        changed_before_chunks(
            server, database, patch, *["DO 0"] * 5, statement, "INSERT INTO t (id, v) VALUES (70, 'x')"
        )
        first = load(server, database, target, sessions=1)  # it reads two chunks ahead of the commits
        if "INDEX" in statement:
            first.run()
        else:
            with pytest.raises(SourceError, match="start-fresh"):
                first.run()
    if "INDEX" not in statement:
        assert stored(load(server, database, target)).snapshot is not None
        with pytest.raises(SourceError, match="start-fresh"):
            load(server, database, target).run()
        load(server, database, target).run(start_fresh=True)
    assert lake_rows(target) == server_rows(server, database)


def test_a_connection_that_ends_inside_a_chunk_is_opened_again_a_few_times(server, small, tmp_path, monkeypatch):
    simple(server, "ended", 20)
    target = str(tmp_path / "lake")
    read, ended = snapshot_load.read_chunk, []

    def cut_off(connection, source, chunk):
        if len(ended) < times:
            ended.append(chunk)
            server.run(f"KILL {connection.thread_id()}")
        return read(connection, source, chunk)

    monkeypatch.setattr(snapshot_load, "read_chunk", cut_off)
    monkeypatch.setattr("hudi_services.sources.cdc.mysql.sessions._PAUSE", 0.001)
    times = 1000
    with pytest.raises(SourceUnavailableError, match="in 4 attempts"):
        load(server, "ended", target, sessions=1).run()
    times = len(ended) + 3
    load(server, "ended", target, sessions=1).run()
    assert lake_rows(target) == server_rows(server, "ended")


def test_a_table_without_a_key_is_read_in_one_transaction(server, small, tmp_path):
    server.run(
        "CREATE DATABASE no_key",
        "CREATE TABLE no_key.t (id INT, v INT)",
        "INSERT INTO no_key.t SELECT seq, seq FROM no_key.seq_1_to_20",
    )
    options = {"hoodie.table.recordkey.fields": "id"}
    assert load(server, "no_key", str(tmp_path / "lake"), options).run().commits == 1


@pytest.mark.parametrize("condition", ["b > 6 and v <> 'new'", "a >= 'b' or b in (1, 2)"])
def test_chunks_and_changes_are_filtered_alike(server, tmp_path, small, condition):
    database = f"filtered_{len(condition)}"
    made(server, database)
    run = load(server, database, str(tmp_path / "lake"))
    run.target = replace(run.target, filter=RowFilter(condition))

    def expected():
        rows = server_rows(server, database)
        if condition.startswith("b"):
            return [row for row in rows if row[1] > 6 and row[2] != "new"]
        return [row for row in rows if row[0].encode() >= b"b" or row[1] in (1, 2)]

    assert run.run().rows == len(expected())
    assert lake_rows(run.target.base_path) == expected()
    server.run(f"USE {database}", "UPDATE t SET v = 'new' WHERE b % 2", "UPDATE IGNORE t SET b = b + 3 WHERE b > 4")
    run.run()
    assert lake_rows(run.target.base_path) == expected()
    rows = len(expected())
    report = EqualityCheck(run).verify()
    assert (report.differing, report.rows, report.lake_rows) == (0, rows, rows)
    table = HoodieTable.open(run.target.base_path)
    table.write(table.read().select(table.stored_schema.names).slice(0, 3), "delete")
    assert EqualityCheck(run).verify(repair=True).missing == 3
    assert lake_rows(run.target.base_path) == expected()

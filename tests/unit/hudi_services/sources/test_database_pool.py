"""Databases for one task after the other: none of them sees what another one did."""

from __future__ import annotations

import os

import duckdb
import pyarrow as pa
import pytest

from hudi_services.sources.database_pool import DatabasePool

ROWS = pa.table({"n": [1, 2, 3]})


@pytest.fixture
def pool(monkeypatch):
    """A pool that counts the databases which it makes."""
    made = []
    connect = duckdb.connect

    def counted(*arguments, **more):
        made.append(connect(*arguments, **more))
        return made[-1]

    monkeypatch.setattr(duckdb, "connect", counted)
    pool = DatabasePool({"threads": "1", "memory_limit": "64MB", "enable_external_access": "false"})
    object.__setattr__(pool, "made", made)
    return pool


def test_tasks_one_after_the_other_take_one_database_and_tasks_at_once_two(pool):
    for _ in range(3):
        with pool.session() as session:
            assert session.execute("SELECT 1").fetchall() == [(1,)]
    assert len(pool.made) == 1
    with pool.session(), pool.session():
        pass
    assert len(pool.made) == 2
    with pool.session(), pool.session():
        pass
    assert len(pool.made) == 2


def test_rows_and_temporary_tables_of_a_task_end_with_it(pool):
    with pool.session() as session:
        session.register("batch", ROWS)  # a task that fails may leave its rows
        session.execute("CREATE TEMPORARY TABLE made AS SELECT 1 AS n; PREPARE kept AS SELECT 1; SET VARIABLE v = 1")
        session.execute("SELECT setseed(0.5), random()").fetchall()
    with pool.session() as session:
        for text in ("FROM batch", "FROM made", "EXECUTE kept"):
            with pytest.raises(duckdb.Error, match=r"batch|made|kept"):
                session.execute(text)
        assert session.execute("SELECT getvariable('v')").fetchall() == [(None,)]
    assert len(pool.made) == 1


def test_each_session_has_the_settings_and_cannot_change_them(pool):
    for _ in range(2):
        with pool.session() as session:
            values = "current_setting('TimeZone'), current_setting('threads'), current_setting('memory_limit')"
            assert session.execute(f"SELECT {values}").fetchall() == [("UTC", 1, "61.0 MiB")]
            for change in ("SET TimeZone = 'Asia/Tokyo'", "SET GLOBAL TimeZone = 'Asia/Tokyo'", "SET threads = 2"):
                with pytest.raises(duckdb.InvalidInputException, match="locked"):
                    session.execute(change)
            with pytest.raises(duckdb.PermissionException):
                session.execute("FROM read_text('/etc/hostname')")


def test_a_task_that_fails_or_runs_out_of_memory_leaves_a_database_that_answers(pool):
    for text, error in (
        ("SELECT error('no')", duckdb.InvalidInputException),
        ("SELECT", duckdb.ParserException),
        ("SELECT list(i) FROM range(100_000_000) t(i)", duckdb.OutOfMemoryException),
    ):
        with pytest.raises(error), pool.session() as session:
            session.execute(text).fetchall()
        with pool.session() as session:
            assert session.execute("SELECT 1").fetchall() == [(1,)]
    assert len(pool.made) == 1


def test_a_database_that_does_not_answer_is_left_out(pool):
    with pool.session():
        pool.made[0].close()
    with pool.session() as session:
        assert session.execute("SELECT 1").fetchall() == [(1,)]
    assert len(pool.made) == 2
    with pool.session():
        pass
    assert len(pool.made) == 2


def test_a_child_process_takes_none_of_its_parent(pool, monkeypatch):
    with pool.session():
        pass
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pool.session():
        pass
    assert len(pool.made) == 2

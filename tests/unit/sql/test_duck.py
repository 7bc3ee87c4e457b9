"""DuckDB as an engine: the names of its own tables and views."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql.duck import DuckEngine
from hoodie.sql.parse import statements


@pytest.fixture
def engine(duck):
    cursor = duck.cursor()
    cursor.execute("ATTACH ':memory:' AS of_engine")
    cursor.execute("USE of_engine")
    yield DuckEngine(cursor)
    duck.execute("DETACH of_engine")


def run(engine, text):
    for statement in statements(text):
        engine.run(statement)


@pytest.mark.parametrize("kind", ["TABLE", "VIEW", "TEMPORARY TABLE", "TEMPORARY VIEW"])
def test_each_statement_changes_the_names_that_it_has(engine, kind):
    assert not engine.has("t")
    run(engine, f"CREATE {kind} t AS SELECT 1 AS n")
    assert engine.has("t")
    assert not engine.has("T")
    run(engine, f"DROP {kind.split()[-1]} t")
    assert not engine.has("t")


def test_statements_that_duckdb_runs_as_they_are_change_them(engine):
    run(engine, "CREATE TABLE t (n INT)")
    assert engine.has("t")
    run(engine, "ALTER TABLE t RENAME TO u")
    assert (engine.has("t"), engine.has("u")) == (False, True)
    with pytest.raises(SqlError, match="DuckDB cannot run"):
        run(engine, "DROP TABLE t")
    assert engine.has("u")


def test_it_asks_once_between_two_statements(engine, monkeypatch):
    texts = []

    class Noted:
        def __init__(self, database):
            self._database = database

        def execute(self, text, *more):
            texts.append(text)
            return self._database.execute(text, *more)

        def __getattr__(self, name):
            return getattr(self._database, name)

    monkeypatch.setattr(engine, "_database", Noted(engine._database))
    assert not any(engine.has(name) for name in "abc")
    assert len(texts) == 1
    run(engine, "CREATE TABLE b (n INT)")
    assert [engine.has(name) for name in "abc"] == [False, True, False]
    assert len(texts) == 2


def test_views_of_duckdb_itself_are_not_its_own(engine):
    assert not engine.has("pragma_database_list")
    assert not engine.has("duckdb_tables")

"""Macros of a connection to DuckDB: those that a text calls, with those that they call, and no others."""

from __future__ import annotations

import duckdb
import pytest

from hoodie.sql.duck import DuckEngine
from hoodie.sql.duck_text import MACROS
from hoodie.sql.macros import Macros, _definitions
from hoodie.sql.parse import statements

NAMES = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'macro' AND NOT internal"


def names(database):
    return {name.lower() for (name,) in database.execute(NAMES).fetchall()}


def test_each_macro_has_a_name_of_its_own():
    assert len(_definitions()) == len(MACROS)


@pytest.mark.parametrize(("text", "made"), [
    ("SELECT 1", set()),
    ("SELECT PMOD(7, 2)", {"pmod", "__hoodie_divisor"}),
    ("SELECT __HOODIE_TEXT(x), 'bround'", {"__hoodie_text", "__hoodie_year_text", "bround"}),
])  # fmt: skip
def test_what_a_text_calls_is_made_and_nothing_else(text, made):
    database = duckdb.connect()
    macros = Macros(database)
    macros.make(text)
    assert names(database) == made


def test_all_are_made_whatever_comes_first():
    for order in (sorted, lambda all_names: sorted(all_names, reverse=True)):
        database = duckdb.connect()
        macros = Macros(database)
        for name in order(_definitions()):
            macros.make(f"SELECT {name}(x)")
        assert names(database) == set(_definitions())


def test_one_that_was_interrupted_is_made_again():
    database = duckdb.connect()
    Macros(database).make("pmod")  # an interrupt came before it was noted
    macros = Macros(database)
    macros.make("pmod")
    assert "pmod" in names(database)


def test_a_view_keeps_what_its_query_calls():
    database = duckdb.connect()
    engine = DuckEngine(database)
    assert names(database) == set()
    for text in ("CREATE TEMPORARY VIEW v AS SELECT pmod(-7, 3) AS p, CAST(2.7 AS INT) AS i", "SELECT * FROM v"):
        (statement,) = statements(text)
        rows = engine.run(statement)
    assert rows.to_pylist() == [{"p": 2, "i": 2}]

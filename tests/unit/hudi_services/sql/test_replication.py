"""Statements about whole databases, read into values."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql.parse import statements
from hudi_services.sql.replication import CreateCatalog, Replicate, ShowRoutes, TableAction, read_statement


def said(text):
    [statement] = statements(text)
    return read_statement(statement.text)


def test_the_statements_of_the_talk_become_values():
    assert said("create catalog if not exists Shop with ('type'='mysql', 'server-id' = '1',);") == CreateCatalog(
        "shop", True, {"type": "mysql", "server-id": "1"}
    )
    assert said(
        """CREATE DATABASE IF NOT EXISTS lake.cdas_demo WITH ('hoodie.x' = 'a;b') AS DATABASE shop.`benchmark1`
        INCLUDING TABLE 'a.*' EXCLUDING TABLE 'ab' EXCLUDING COLUMNS (`c`, d) MASK (e AS hash) /*+ OPTIONS('k'='v') */;"""
    ) == Replicate(
        "DATABASE",
        True,
        ("lake", "cdas_demo"),
        ("shop", "benchmark1"),
        {"hoodie.x": "a;b"},
        {"k": "v"},
        ("a.*",),
        ("ab",),
        (),
        {"c": "drop", "d": "drop", "e": "hash"},
    )
    text = "EXPLAIN CREATE TABLE lake.db1.ctas AS TABLE shop.`benchmark2`.`sbtest[0-9]+`"
    assert said(text) == Replicate(
        "TABLE", False, ("lake", "db1", "ctas"), ("shop", "benchmark2", "sbtest[0-9]+"), explain=True
    )
    for text in (
        "CREATE TABLE a AS TABLE b",
        "CREATE DATABASE a",
        "SELECT 1",
        "CREATE TABLE t USING hudi AS SELECT 1 AS TABLE_",
    ):
        assert said(text) is None


def test_expressions_of_added_columns_are_the_text_as_it_is():
    text = """CREATE TABLE lake.d.t AS TABLE shop.a.b ADD COLUMN (Full AS concat(`first name`, ', ', b) /* c */ || 'x,)',
        n AS CASE WHEN a > 0 THEN [1, 2][1] END) EXCLUDING COLUMNS (b)"""
    statement = said(text)
    assert statement.added == {
        "Full": """concat("first name", ', ', b) /* c */ || 'x,)'""",
        "n": "CASE WHEN a > 0 THEN [1, 2][1] END",
    }
    assert statement.masks == {"b": "drop"}
    assert said("CREATE TABLE a.b.t AS TABLE c.d.t INCLUDING COLUMNS (id, `x y`)").columns == ("id", "x y")
    assert said("CREATE DATABASE lake.d AS DATABASE shop.a ADD COLUMN (n AS 1)").added == {"n": "1"}


def test_statements_about_routes_become_values():
    assert (said("show routes"), said("SHOW ROUTES FROM `Shop`;")) == (ShowRoutes(None), ShowRoutes("shop"))
    assert said("resume table lake.`d b`.t") == TableAction("RESUME", ("lake", "d b", "t"))
    assert said("RESUME TABLE s.d.t WITH ('start-fresh'='true')") == TableAction("RESUME", ("s", "d", "t"), True)
    assert [said(f"{verb} TABLE t").verb for verb in ("Verify", "RESYNC", "skip")] == ["VERIFY", "RESYNC", "SKIP"]


@pytest.mark.parametrize(
    "text",
    [
        "SHOW ROUTES shop",
        "SHOW ROUTES IN shop.a",
        "RESUME TABLE",
        "RESUME TABLE a b",
        "RESUME TABLE a WITH ('fresh'='true')",
        "SKIP TABLE a WITH ('start-fresh'='true')",
        "CREATE CATALOG a.b WITH ('type'='mysql')",
        "CREATE CATALOG a WITH ('type' 'mysql')",
        "CREATE CATALOG a WITH ('type'='mysql') x",
        "CREATE DATABASE a.b AS DATABASE c.d INCLUDING TABLE x",
        "CREATE TABLE a.b.t AS TABLE c.d.t ADD COLUMN (a AS )",
        "CREATE TABLE a.b.t AS TABLE c.d.t ADD COLUMN (a AS 1, A AS 2)",
        "CREATE TABLE a.b.t AS TABLE c.d.t ADD COLUMN (a AS (1)",
        "CREATE DATABASE a.b AS DATABASE c.d WHERE x = 1",
        "CREATE DATABASE a.b AS DATABASE",
    ],
)
def test_what_cannot_be_read_is_an_error(text):
    with pytest.raises(SqlError, match="A statement cannot be read"):
        said(text)

"""EXPLAIN of queries and of statements that change rows."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql("CREATE TABLE t (id STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'id')")
        connection.sql("INSERT INTO t VALUES ('a', 1), ('b', 2)")
        yield connection


def plan(db, text):
    return "\n".join(line for (line,) in db.sql(f"EXPLAIN {text}").rows())


def test_a_query_says_its_tables_and_the_engines_plan(db):
    found = plan(db, "SELECT id FROM t WHERE n > 1")
    assert "table t at " in found
    assert "1 file slice" in found
    assert "plan of DuckDB:" in found
    assert "plan of DuckDB:" in plan(db, "SELECT 7 div 2")


def test_a_change_says_its_operation_and_changes_nothing(db):
    before = db.sql("SELECT id, n FROM t").rows()
    for statement, operation in (
        ("INSERT INTO t SELECT id, n + 1 FROM t", "insert"),
        ("INSERT OVERWRITE t VALUES ('c', 1)", "insert_overwrite_table"),
        ("UPDATE t SET n = 5 WHERE id = 'a'", "upsert"),
        ("DELETE FROM t WHERE n = ?", "delete"),
        ("MERGE INTO t USING (SELECT 'a' AS id, 9 AS n) s ON t.id = s.id WHEN MATCHED THEN DELETE", "upsert"),
    ):
        rows = db.sql(f"EXPLAIN {statement}", [1] if "?" in statement else []).rows()
        assert f"by the operation {operation}, keys: id" in rows[0][0]
        assert any(line.startswith("plan of DuckDB") for (line,) in rows)
    assert db.sql("SELECT id, n FROM t").rows() == before


def test_mistakes_of_the_statement_are_those_without_explain(db):
    for statement, words in (
        ("SELECT nothing FROM t", "nothing"),
        ("selec 1", "cannot be read"),
        ("UPDATE t SET x = 1", "x"),
        ("DROP TABLE t", "EXPLAIN has no plan"),
        ("SHOW TABLES", "EXPLAIN has no plan"),
        ("FORMATTED SELECT id FROM t", "EXPLAIN has no form FORMATTED. To do: write EXPLAIN without FORMATTED"),
        ("analyze SELECT id FROM t", "EXPLAIN has no form ANALYZE"),
    ):
        with pytest.raises(SqlError, match=words):
            plan(db, statement)

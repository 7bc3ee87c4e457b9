"""Columns that no table of a query has: the error names the table as the statement does, and the columns there are."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from hoodie.errors import SqlError
from hoodie.sql import connect
from hoodie.sql.missing_columns import unknown_column


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("names")) as connection:
        for name in ("orders", "items"):
            connection.sql(
                f"create table {name} (id int, total int, area string) using hudi tblproperties (primaryKey = 'id')"
            )
        yield connection


@pytest.mark.parametrize(
    ("statement", "what", "first"),
    [
        ("select totl from orders", "Table orders has no column 'totl'", "columns of orders: total"),
        ("select o.idd from orders o group by 1", "Table orders has no column 'idd'", "columns of orders: id"),
        (
            "select o.id from orders o join items i on o.id = i.idx",
            "Table items has no column 'idx'",
            "columns of items: id",
        ),
        (
            "select nix from orders join items using (id)",
            "No table of the query has a column 'nix'",
            "columns of orders: ",
        ),
        ("explain select totl from orders", "Table orders has no column 'totl'", "columns of orders: total"),
    ],
)
def test_an_unknown_column(db, statement, what, first):
    with pytest.raises(SqlError) as caught:
        db.sql(statement)
    assert caught.value.what == what
    assert caught.value.found.startswith(first)
    assert "__hoodie" not in str(caught.value)


def test_other_errors_of_duckdb_name_the_table_as_the_statement_does(db):
    with pytest.raises(SqlError, match="FROM orders") as caught:
        db.sql("select no_such_function(id) from orders")
    assert "__hoodie" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "select id as x from t where x > 1 group by x",
        "select s.x from (select id as x from t) s",
        "select transform(a, e -> e + 1) from t",
        "select count(*), t.* from t",
        "select a.b.c from t",
        "select ID from T",
    ],
)
def test_names_of_the_query_are_no_missing_columns(query):
    tree = parse_one(query, dialect="spark")
    tables = [(node, ["id", "a"]) for node in tree.find_all(exp.Table)]
    assert unknown_column(tree, tables) is None
    other = parse_one("select nix from elsewhere", dialect="spark")
    assert unknown_column(other, []) is None, "a table of the engine's own may have it"

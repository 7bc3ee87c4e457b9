"""A table of three rows in SQL."""

from __future__ import annotations

CREATE = (
    "create table t (id int, name string, price double, ts bigint, dt string) using hudi "
    "tblproperties (primaryKey='id', preCombineField='ts', type='{kind}') partitioned by (dt)"
)
ROWS = "insert into t values (1, 'a', 10.5, 1, 'x'), (2, 'b', 20, 1, 'x'), (3, 'c', 30, 1, 'y')"


def rows(db, query="select * from t order by id"):
    """The rows of a query, by default of the whole table."""
    return db.sql(query).rows()

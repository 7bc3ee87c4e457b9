"""Partitions that INSERT OVERWRITE and TRUNCATE name by values: those of the values as their columns hold them."""

from __future__ import annotations

from itertools import cycle

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

TABLE = "create table {} (id int, p {}) using hudi tblproperties (primaryKey = 'id' {}) partitioned by (p)"


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        yield connection


def ids(db, table="t"):
    return [row[0] for row in db.sql(f"select id from {table} order by id").rows()]


def test_a_number_names_the_partition_of_its_own_text(db):
    db.sql(TABLE.format("t", "string", ""))
    db.sql("insert into t values (1, '1'), (2, '01'), (3, '001'), (4, '1.0'), (5, null)")
    db.sql("insert overwrite t partition (p = 1) select 6")
    assert ids(db) == [2, 3, 4, 5, 6]
    db.sql("truncate table t partition (p = 1)")
    db.sql("insert overwrite t partition (p = null) select 7 where false")
    assert ids(db) == [2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "stored", "same", "lost"),
    [
        ("int", "1", ["1", "'1'", "'01'"], ["1.0", "1.5", "'1.00000000001'", "'x'", "'2026-01-01'", "10000000000"]),
        (
            "date",
            "date '2026-01-31'",
            ["'2026-01-31'", "date '2026-01-31'"],
            ["'x'", "'2026-01-32'", "20260131", "'2026-01-31 03:00'"],
        ),
        ("decimal(5, 2)", "1.50", ["1.5", "'1.50'", "1.500"], ["1.504", "1.499999999999D", "'x'", "12345.0"]),
        ("boolean", "true", ["true", "'true'"], ["'x'"]),
    ],
)
def test_values_in_the_type_of_their_column(db, kind, stored, same, lost):
    db.sql(TABLE.format("t", kind, "") + f"; insert into t values (1, {stored}), (2, null)")
    statements = ("truncate table t partition (p = {})", "insert overwrite t partition (p = {}) select 9")
    for value, statement in zip(lost, cycle(statements), strict=False):  # both read the values of a partition alike
        with pytest.raises(SqlError, match="cannot be stored in partition column p"):
            db.sql(statement.format(value))
    assert ids(db) == [1, 2]
    for value in same:
        db.sql(f"truncate table t partition (p = {value})")
        assert ids(db) == [2], value
        db.sql(f"insert into t values (1, {stored})")


def test_a_moment_names_no_partition_of_days(db):
    timed = (
        ", 'hoodie.table.keygenerator.class' = 'org.apache.hudi.keygen.TimestampBasedKeyGenerator', "
        "'hoodie.keygen.timebased.timestamp.type' = 'EPOCHMILLISECONDS', "
        "'hoodie.keygen.timebased.output.dateformat' = 'yyyy-MM-dd'"
    )
    db.sql(TABLE.format("t", "bigint", timed) + "; insert into t values (1, 1700000000000), (2, 1700000001000)")
    for statement in (
        "truncate table t partition (p = 1700000000000)",
        "insert overwrite t partition (p = 1700000000000) select 3",
        "insert overwrite t partition (p = 1700000000000) select 3 where false",
    ):
        with pytest.raises(SqlError, match=r"does not name a partition.*TIMESTAMP.*DELETE FROM t"):
            db.sql(statement)
    assert ids(db) == [1, 2]


@pytest.mark.parametrize(
    "value", ["cast('x' as int)", "1 / 0", "try_cast('x' as int)", "(select max(id) from t where id > 9)"]
)
def test_a_value_that_failed_does_not_name_the_partition_of_null(db, value):
    db.sql(TABLE.format("t", "int", "") + "; insert into t values (1, 1), (2, null)")
    for statement in ("truncate table t partition (p = {})", "insert overwrite t partition (p = {}) select 9"):
        with pytest.raises(
            SqlError, match=r"cannot be stored in partition column p|is not a literal|not a value of the type"
        ):
            db.sql(statement.format(value))
    assert ids(db) == [1, 2]
    db.sql("truncate table t partition (p = cast(null as int))")
    assert ids(db) == [1]


def test_a_computed_value_names_no_partition(db):
    """Spark's grammar takes literals: a date without quotes is the number 1994."""
    db.sql(TABLE.format("t", "bigint", "") + "; insert into t values (1, 1994), (2, 2), (3, -3)")
    for value in ("2026-01-31", "1 + 1", "abs(2)", "- -3", "cast(2 - 0 as int)", "year(date '1994-01-01')"):
        for statement in (
            *("truncate table t partition (p = {})", "insert overwrite t partition (p = {}) select 9"),
            "insert into t partition (p = {}) select 9",
        ):
            with pytest.raises(SqlError, match=r"partition column p is not a literal.*nothing was changed"):
                db.sql(statement.format(value))
    assert ids(db) == [1, 2, 3]
    assert "; 1 file group replaced" in str(db.sql("truncate table t partition (p = -3)").message)
    assert ids(db) == [1, 2]


def test_a_partition_is_one_of_one_table(db):
    for name in "tu":
        db.sql(TABLE.format(name, "int", "") + f"; insert into {name} values (1, 1)")
    with pytest.raises(SqlError, match="names several tables"):
        db.sql("truncate table t, u partition (p = 1)")
    assert (ids(db), ids(db, "u")) == ([1], [1])


@pytest.mark.parametrize("name", ["u.p", "t.p", "'p'", "upper(p)"])
def test_what_is_not_the_name_of_a_column_names_no_partition(db, name):
    db.sql(TABLE.format("t", "int", "") + "; insert into t values (1, 1)")
    for statement in ("truncate table t partition ({} = 1)", "insert overwrite t partition ({} = 1) select 9"):
        with pytest.raises(SqlError, match="does not name a column"):
            db.sql(statement.format(name))
    assert ids(db) == [1]

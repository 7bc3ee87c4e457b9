"""Values that statements store, and their results in queries, as in Spark."""

from __future__ import annotations

import pytest

from hoodie import dbapi
from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, name string, c decimal(10, 2), d date, n bigint, dt string) using hudi "
            "tblproperties (primaryKey = 'id') partitioned by (dt)"
        )
        connection.sql("insert into t values (1, 'a', 1.99, date '2024-01-31', 9007199254740993, 'x')")
        yield connection


def told(db, query="select * from t order by id"):
    return [tuple(str(value) for value in row) for row in db.sql(query).rows()]


def test_keys_may_be_set_to_themselves(db):
    db.sql("update t set id = id, dt = 'x', name = 'b'")
    db.sql(
        "merge into t using (select 1 id, 'c' name, 'x' dt) s on t.id = s.id "
        "when matched then update set id = s.id, dt = s.dt, name = s.name"
    )
    assert told(db, "select id, name, dt from t") == [("1", "c", "x")]


@pytest.mark.parametrize(
    "statement",
    [
        "update t set id = id + 1",
        "update t set dt = 'y'",
        "merge into t using (select 1 id, 'y' dt) s on t.id = s.id when matched then update set dt = s.dt",
        "merge into t using (select 1 id, 'n' name, 1 c, date '2024-01-01' d, 1 n, 'y' dt) s on t.id = s.id "
        "when matched then update set *",
    ],
)
def test_a_row_keeps_its_keys(db, statement):
    before = told(db)
    with pytest.raises(SqlError, match="part of the keys"):
        db.sql(statement)
    assert told(db) == before


def test_clauses_of_a_merge_do_not_touch_each_others_values(db):
    db.sql("insert into t values (2, 'b', 2, null, 2, 'x')")
    db.sql(
        "merge into t using (select 1 id, 0.5D v union all select 2, 7D) s on t.id = s.id "
        "when matched and s.v < 1 then update set name = 'half' when matched then update set n = s.v"
    )
    assert told(db, "select id, name, n from t order by id") == [("1", "half", "9007199254740993"), ("2", "b", "7")]


def test_texts_are_read_where_they_are_set(db):
    db.sql("update t set n = '5', c = '2.50', d = '2024-02-29'")
    assert told(db, "select n, c, d from t") == [("5", "2.50", "2024-02-29")]
    with pytest.raises(SqlError, match="column n"):
        db.sql("update t set n = 'five'")


def test_columns_of_a_query_go_by_their_names(db):
    db.sql("insert into t select 'o' as dt, 7 as n, null as d, 3 as C, 'named' as name, 2 as ID")
    assert told(db, "select * from t where id = 2") == [("2", "named", "3.00", "None", "7", "o")]
    db.sql("insert into t partition (dt = 'p') select 'named' as name, 3 as id, null as d, 7 as n, 3 as c")
    assert told(db, "select id, name, dt from t where id = 3") == [("3", "named", "p")]
    db.sql("insert into t select 4 as id, 'place' as c, 3 as other, null as d, 7 as n, 'q' as dt")
    assert told(db, "select id, name, c from t where id = 4") == [("4", "place", "3.00")]


def test_structs_without_names_of_fields(db):
    db.sql("create table s (id int, s struct<a: int, b: string>) using hudi tblproperties (primaryKey = 'id')")
    db.sql("insert into s select 1, struct(5, 'x'); insert into s select 2, named_struct('b', 'y', 'a', 6)")
    assert told(db, "select s.a, s.b from s order by id") == [("5", "x"), ("6", "y")]
    with pytest.raises(SqlError, match="fields"):
        db.sql("insert into s select 3, named_struct('a', 1, 'other', 'z')")


def test_times_and_floats_into_text(db):
    db.sql("update t set name = timestamp '2024-01-02 03:04:05.50'")
    assert told(db, "select name from t") == [("2024-01-02 03:04:05.5",)]
    db.sql("update t set name = timestamp '2024-01-02 03:04:00'")
    assert told(db, "select name from t") == [("2024-01-02 03:04:00",)]
    with pytest.raises(SqlError, match="CAST"):
        db.sql("update t set name = 1e20D")


def test_a_float_with_more_digits_than_a_decimal_column(db):
    with pytest.raises(SqlError, match="cause data loss"):
        db.sql("insert into t (id, c) values (5, 1.005D)")


EXPRESSIONS = [
    ("cast(1.9D as int)", "1"),
    ("cast(-1.9D as int)", "-1"),
    ("cast(c as bigint)", "1"),
    ("cast('1' as int) + 1", "2"),
    ("try_cast('1.9' as int)", "None"),
    ("cast(' 7 ' as int)", "7"),
    ("cast(cast(1.9D as int) as string)", "1"),
    ("cast(n as bigint)", "9007199254740993"),
    ("cast(timestamp '2024-01-31 22:30:00.5' as bigint)", "1706740200"),
    ("cast(true as int)", "1"),
    ("dayofweek(d)", "4"),
    ("dayofweek(date_add(d, 1)) + 1", "6"),
    ("weekday(d)", "2"),
    ("extract(dow from d)", "4"),
    ("date_add(d, 1)", "2024-02-01"),
    ("add_months(date_add(d, 1), 1)", "2024-03-01"),
    ("cast(date_sub(d, 1) as string)", "2024-01-30"),
]


def test_expressions(db):
    given = {expression: told(db, f"select {expression} from t") for expression, _ in EXPRESSIONS}
    assert given == {expression: [(value,)] for expression, value in EXPRESSIONS}


# As Spark 4.2 gives them.
FUNCTIONS = {
    "isnull(c)": "False",
    "isnull(nullif(c, c))": "True",
    "isnotnull(c)": "True",
    "bround(2.5)": "2",
    "bround(3.5)": "4",
    "bround(-2.5)": "-2",
    "bround(25, -1)": "20",
    "bround(2.55, 1)": "2.6",
    "pmod(-7, 3)": "2",
    "pmod(7, -3)": "1",
    "pmod(-7, -3)": "-1",
    "pmod(nullif(n, n), 3)": "None",
    "rint(2.5)": "2.0",
    "nanvl(cast('NaN' as double), 1.0)": "1.0",
    "unix_timestamp(timestamp '2026-03-04 05:06:07')": "1772600767",
    "unix_timestamp(d)": "1706659200",
    "unix_timestamp('2026-01-01 00:00:00')": "1767225600",
    "unix_timestamp('2026-01-02', 'yyyy-MM-dd')": "1767312000",
    "to_unix_timestamp('2026-01-01 00:00:00')": "1767225600",
    "trunc(d, 'MM')": "2024-01-01",
    "trunc(d, 'year')": "2024-01-01",
    "trunc(d, 'quarter')": "2024-01-01",
    "trunc(d, 'week')": "2024-01-29",
    "trunc(d, 'nope')": "None",
    "date_format(date_trunc('MM', timestamp '2026-03-04 05:06:07'), 'yyyy-MM-dd HH')": "2026-03-01 00",
    "upper('straße')": "STRASSE",
    "base64(cast('straße' as binary))": "c3RyYcOfZQ==",
    "base64(cast(concat(name, 'ß') as binary))": "YcOf",
    "cast(cast(concat(name, 'ß') as binary) as string)": "aß",
    "cast(c as string)": "1.99",
    "cast(d as string)": "2024-01-31",
    "cast(null as string)": "None",
    "cast(coalesce(null, null) as string)": "None",
    "cast(timestamp '2020-01-01 00:00:00.100' as string)": "2020-01-01 00:00:00.1",
    "cast(timestamp_ntz '2020-01-01 00:00:00' as string)": "2020-01-01 00:00:00",
    "ln(0)": "None",
    "ln(1)": "0.0",
    "log(10, 0)": "None",
    "log(10, 100)": "2.0",
    "log2(-8)": "None",
    "log(cast('NaN' as double))": "nan",
}


def test_functions_give_what_spark_gives(db):
    given = {called: told(db, f"select {called} as r from t") for called in FUNCTIONS}
    assert given == {called: [(value,)] for called, value in FUNCTIONS.items()}


@pytest.mark.parametrize("called", ["hash(name)", "xxhash64(name)", "typeof(n)", "crc32(name)"])
def test_functions_of_which_duckdb_has_others_are_refused(db, called):
    with pytest.raises(SqlError, match="gives other values than Spark's"):
        db.sql(f"select {called} as r from t")


@pytest.mark.parametrize(
    "value", ["named_struct('x', 1)", "map('a', 1)", "array(named_struct('x', 1))", "array(array(1))"]
)
def test_what_duckdb_writes_as_another_text_is_refused(db, value):
    with pytest.raises(SqlError, match="as another text than Spark: name its fields"):
        db.sql(f"select cast({value} as string) as r, name from t")


def test_arrays_as_text(db):
    """As Spark 4.2 writes them. DuckDB quotes elements and writes NULL."""
    for value, text in {
        "array('x', 'y z')": "[x, y z]",
        "array('a,b', 'c''d', ' x', '', null, 'NULL', '[q]')": "[a,b, c'd,  x, , null, NULL, [q]]",
        "array(1, null)": "[1, null]",
        "array(true, false)": "[true, false]",
        "array(1.50, 2.25)": "[1.50, 2.25]",
        "array(timestamp '2026-01-31 10:00:00')": "[2026-01-31 10:00:00]",
        "array(date '2026-01-31')": "[2026-01-31]",
        "cast(array() as array<string>)": "[]",
        "cast(null as array<int>)": None,
    }.items():
        assert db.sql(f"select cast({value} as string) as r from t").rows()[0] == (text,), value


def test_casts_of_aggregates_and_windows(tmp_path):
    with connect(tmp_path) as db:
        db.sql(
            "create table t (n bigint, x double, c decimal(20, 2), s string, d date, at timestamp, b binary) using hudi"
        )
        db.sql(
            "insert into t values (9007199254740993, -1.5, 12345678901234567.89, '7.9', date '2026-01-31', "
            "timestamp '2026-01-31 10:00:00', cast('ab' as binary))"
        )
        for called, value in {
            "cast(max(n) as bigint)": "9007199254740993",
            "cast(sum(x) as int)": "-1",
            "cast(max(c) as bigint)": "12345678901234567",
            "cast(max(s) as double)": "7.9",
            "cast(max(n > 1) as int)": "1",
            "cast(max(at) as bigint)": "1769853600",
            "cast(count(*) over () as string)": "1",
            "cast(max(x) as string)": "-1.5",
            "cast(max(at) as string)": "2026-01-31 10:00:00",
            "cast(max(s) as binary)": "b'7.9'",
            "unix_timestamp(max(at))": "1769853600",
            "cast(max(d) as timestamp_ntz)": "2026-01-31 00:00:00",
            "reverse(max(s))": "9.7",
        }.items():
            assert str(db.sql(f"select {called} from t").rows()[0][0]) == value, called
        for called in ("cast(max(b) as string)", "cast(named_struct('a', max(n)) as string)"):
            with pytest.raises(SqlError, match=r"query around this one|name its fields"):
                db.sql(f"select {called} from t")


def test_a_date_that_python_does_not_have_is_an_error_with_the_way_out(db, tmp_path):
    db.sql("insert into t values (2, 'b', 1, date_add(date '9999-12-31', 1), 1, 'x')")
    for query in ("select d from t", "select cast(d as timestamp) as d from t", "select array(d) as d from t"):
        result = db.sql(query)
        for use in (result.rows, lambda result=result: list(result), result.shown):
            with pytest.raises(SqlError, match=r"Column d .*CAST\(… AS STRING\).*result\.table"):
                use()
    assert ("+10000-01-01",) in db.sql("select cast(d as string) from t").rows()
    assert db.sql("select d from t where id = 2").table["d"].cast("int32").to_pylist() == [2932897]
    with dbapi.connect(tmp_path) as connection, connection.cursor() as cursor:
        cursor.execute("select d from t")
        with pytest.raises(dbapi.DatabaseError, match="Column d"):
            cursor.fetchall()

"""Functions and literals that DuckDB alone would compute in another way than Spark: as Spark 4.2 gives them, or refused."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

# As Spark 4.2 gives them.
VALUES = {
    "map_contains_key(map(s, 1), 'Spark SQL')": True,
    "map_contains_key(map(n, s), n + 1)": False,
    "map_contains_key(cast(null as map<string, int>), s)": None,
    "-9223372036854775808L": -9223372036854775808,
    "-9223372036854775808L + 1": -9223372036854775807,
    "abs(-9223372036854775807L)": 9223372036854775807,
    "unix_millis(timestamp'2026-01-31 23:59:59.999999')": 1769903999999,
    "unix_millis(timestamp'1969-12-31 23:59:59.9991')": -1,
    "unix_micros(timestamp'1969-12-31 23:59:59.9991')": -900,
    "try_cast(' 7 ' as int)": 7,
    "try_cast(concat(n, '.5') as int)": None,
    "try_cast(concat(n, 'e3') as bigint)": None,
    "try_cast(n + 0.5 as bigint)": 2,
    "try_cast(max(concat(n, '.5')) as bigint)": None,
    "try_cast(max(concat(n, '5')) as bigint)": 25,
    "try_cast(max(n) as bigint)": 2,
    "substring(s, 0, 2)": "Sp",
    "substring(s, -3)": "SQL",
    "substring(s, -12, 5)": "Sp",
    "substring(s, n, -1)": "",
    "substring(s, n, 3)": "par",
    "substring(s, cast(null as int), 3)": None,
    "left(s, 0 - n)": "",
    "right(s, n)": "QL",
    "sign(cast('NaN' as double))": "nan",
    "sign(-n)": -1.0,
    "cast(sign(cast('-0.0' as double)) as string)": "-0.0",
    "reverse('e\u0301x')": "x\u0301e",
    "reverse(max(concat(s, '\u0301')))": "\u0301LQS krapS",
    "flatten(array(a, cast(null as array<int>)))": None,
    "flatten(array(a, array(4)))": [1, None, 3, 4],
    "any_value(nullif(n, 2))": None,
    "collect_list(nullif(n, 2)) over (partition by n)": [],
    "collect_list(n) filter (where n > 9)": [],
    "collect_set(nullif(n, 2))": [],
    "array_contains(a, 9)": None,
    "array_contains(a, 3)": True,
    "array_contains(array(1), 9)": False,
    "array_position(a, 9)": 0,
    "array_position(a, 3)": 3,
    "count_if(n > 5)": 0,
    "max_by(nullif(s, s), n)": None,
    "percentile(n, 0.5)": 2.0,
    "listagg(s)": "Spark SQL",
    "log(-1, n)": None,
    "dayname(d)": "Wed",
    "date_part('dow', d)": 4,
    "datepart('DayOfWeek', d)": 4,
    "date_format(d, 'd/M/yy')": "31/1/24",
    "cast(to_date('31/1/2024', 'd/M/yyyy') as string)": "2024-01-31",
    "monthname(d)": "Jan",
    "cast(date_from_unix_date(1) as string)": "1970-01-02",
    "isnan(cast(null as double))": False,
    "cast(timestamp_seconds(n) as string)": "1970-01-01 00:00:02",
    "'it''s'": "it's",
    "'it' 's'": "its",
    "'''' || 'x'": "'x",
    "date_format(d, 'yyyy-MM-dd')": "2024-01-31",
    "exists(a, x -> x > 1)": True,
    "exists(a, x -> x > 3)": None,
    "exists(array(1, n), x -> x > n)": False,
    "forall(a, x -> x > 0)": None,
    "forall(a, x -> x > 1)": False,
    "forall(cast(array() as array<int>), x -> x > 1)": True,
    "reverse(a)": [3, None, 1],
    "reverse(s)": "LQS krapS",
    "get(a, 0)": 1,
    "get(a, n)": 3,
    "get(a, 0 - n)": None,
    "get(a, 9)": None,
    "every(n > 1)": True,
    "some(n > 2)": False,
    "any(n > 1)": True,
    "any(n > cast(null as int))": None,
    "pow(1, cast('NaN' as double))": "nan",
    "pow(n - 3, cast('Infinity' as double))": "nan",
    "pow(n, 3)": 8.0,
    "sequence(n, 2, 0)": [2],
    "sequence(n, 5, 2)": [2, 4],
    "sequence(n, 0, -1)": [2, 1, 0],
    "element_at(a, 1)": 1,
    "element_at(a, -1)": 3,
    "try_element_at(a, n)": None,
    "try_element_at(a, n + 1)": 3,
    "try_element_at(a, 4)": None,
    "try_element_at(map('x', 1), 'x')": 1,
    "element_at(map(0, 7), 0)": 7,
    "from_unixtime(-2.5)": "1969-12-31 23:59:58",
    "from_unixtime(n)": "1970-01-01 00:00:02",
    "cast(next_day(d, 'Mon') as string)": "2024-02-05",
    """get_json_object('{"a": {"b": [1, 2]}}', '$.a.b[1]')""": "2",
    "cast(try_cast(1e300 as float) as string) like 'inf%'": True,
    "cast(try_cast('-1e300' as float) as string) like '-inf%'": True,
    "try_cast(concat(s, '1') as float)": None,
    "cast(timestamp_millis(n - 3) as string)": "1969-12-31 23:59:59.999",
    "cast(timestamp_micros(n) as string)": "1970-01-01 00:00:00.000002",
}
REFUSED = (
    *(
        "approx_percentile(n, 0.5)",
        "array_distinct(a)",
        "array_except(a, a)",
        "array_intersect(a, a)",
        "array_remove(a, 1)",
        "bit_count(n)",
        "error(n)",
        "raise_error('x')",
    ),
    *("convert_timezone('Asia/Seoul', t)", "from_utc_timestamp(t, 'Asia/Seoul')", "months_between(d, d)"),
    *(
        "format_string('%d', n)",
        "printf('%d', n)",
        "levenshtein(s, s)",
        "overlay(s placing 'x' from n)",
        "url_encode(s)",
    ),
    *("kurtosis(n)", "skewness(n)", "regr_slope(n, n)", "to_json(named_struct('a', n))", "to_char(n, '99')"),
    *("aggregate(a, 0, (x, y) -> x + y, x -> x * 2)", "array_sort(a, (x, y) -> 1)", "transform(a, (x, i) -> x + i)"),
    *("filter(a, (x, i) -> x > i)", "last(n, true)", "max_by(n, n, 2)", "sequence(n, 1)", "encode(s, 'utf-16')"),
    *("locate('x', s, n)", "extract(second from t)", "date_part('seconds', t)"),
    *(
        "date_format(t, 'HH:mm:ss.SSS')",
        "to_unix_timestamp(s, 'yyyy')",
        "date_format(t, s)",
        "sha2(s, 512)",
        "sha2(s, n)",
        "shiftright(n, n)",
    ),
    *("timestampdiff(month, d, d)", "datediff(month, d, d)", r"regexp_replace(s, '(a)', '<$1>')"),
    *("array_insert(a, 9, 1)", "date_format(d, 'DDD')", "date_format(d, 'DD')", "date_format(d, 'yyyyy')"),
    *("date_format(d, 'MMMMM')", "date_format(d, 'EEEEE')", "date_format(t, 'HHH')", "date_format(t, 'z')"),
    *("to_date(s, 'd/M/yy')", "to_timestamp(s, 'HH:mm')", "unix_timestamp(s, 'dd/MM')"),
    *("next_day(d, 'Mond')", "next_day(d, s)", "sequence(d, d, interval 1 day)", "get_json_object(s, 'a')"),
    *("get_json_object(s, s)", "get_json_object(s, '$[*].a')", "get_json_object(s, ' $.a')"),
    *("cast(n as timestamp)", "cast(1.5 as timestamp)", "cast(max(n) as timestamp_ntz)", "typeof(n)"),
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("functions")) as connection:
        connection.sql(
            "create table t (n int, s string, d date, t timestamp, a array<int>) using hudi tblproperties (primaryKey = 'n')"
        )
        connection.sql(
            "insert into t values (2, 'Spark SQL', date '2024-01-31', timestamp '2024-01-31 10:00:00', array(1, null, 3))"
        )
        yield connection


@pytest.mark.parametrize("called", VALUES)
def test_values(db, called):
    value = db.sql(f"select {called} as r from t").rows()[0][0]
    assert (str(value) if value != value else value) == VALUES[called]


def test_what_is_refused_is_named(db):
    for called in REFUSED:
        with pytest.raises(SqlError, match=r"DuckDB has no words for|timestamp_seconds"):
            db.sql(f"select {called} as r from t")
    with pytest.raises(SqlError, match="LATERAL VIEW OUTER"):
        db.sql("select x from t lateral view outer explode(a) e as x")


def test_what_spark_raises_is_an_error(db):
    failed = ("element_at(a, 0)", "element_at(a, 4)", "element_at(a, n - 2)", "try_element_at(a, n - 2)")
    for called in (*failed, "sequence(1, n - 4, 1)", "sequence(1, n, 0)", "cast(d as int)", "cast(max(d) as bigint)"):
        with pytest.raises(SqlError, match=r"counts from 1|has no element|never ends|not a number"):
            db.sql(f"select {called} as r from t")

"""Values of other types in texts, and casts, averages and numbers of them: as Spark 4.2 gives them, or refused."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

# As Spark 4.2 gives them.
VALUES = {
    "s || t": "abc2024-01-31 10:00:00.5",
    "concat(t, '')": "2024-01-31 10:00:00.5",
    "concat_ws('-', n, t)": "2-2024-01-31 10:00:00.5",
    "concat(d, '/', t)": "2024-01-31/2024-01-31 10:00:00.5",
    "listagg(t)": "2024-01-31 10:00:00.5",
    "concat(x, x)": b"abab",
    "s || null": None,
    "a || array(1)": [None, 1],
    "array_join(a, ',')": "",
    "array_join(a, ',', 'N')": "N",
    "unix_seconds(timestamp '2024-01-31 23:59:59.999999')": 1706745599,
    "unix_seconds(timestamp '1969-12-31 23:59:59.5')": -1,
    "unix_timestamp(timestamp '9999-12-31 23:59:59.999999')": 253402300799,
    "cast(timestamp '9999-12-31 23:59:59.999999' as bigint)": 253402300799,
    "hex(n)": "2",
    "bin(n)": "10",
    "median(c)": 0.995,
    "percentile(c, 0.5)": 0.995,
    "percentile_cont(0.5) within group (order by c)": 0.995,
    "avg(n)": 2.0,
    "split_part(s, '', 1)": "abc",
    "cast(true as decimal(3, 2))": 1,
    "cast(array() as array<int>)": [],
    "cast(null as array<int>)": None,
    "cast(99.4 as decimal(2, 0))": 99,
}
REFUSED = (
    *("concat(s, x)", "x || n", "concat(n)", "concat(max(t), '')", "listagg(x)"),
    *("avg(t)", "avg(d)", "median(t)", "hex(1.5D)", "bin(1.5)", "bin(s)", "to_binary(s)", "url_decode(s)"),
    *("json_array_length(s)", "json_object_keys(s)", "map_concat(map('a', 1), map('a', 2))", "regexp_instr(s, 'b')"),
    *(
        "bitmap_bit_position(n)",
        "date_trunc('decade', t)",
        "slice(a, 0, 1)",
        "slice(a, 1, -1)",
        "split_part(s, ',', 0)",
    ),
    *("unix_timestamp(s)", "unix_timestamp('2024-02-30', 'yyyy-MM-dd')"),
    *("cast(1e300 as float)", "cast(300 as decimal(2, 0))", "cast(99.5 as decimal(2, 0))", "try_cast(t as double)"),
    *("cast(array('x') as array<int>)", "cast(a as array<string>)", "cast(named_struct('a', 1.9D) as struct<a:int>)"),
    *("cast(map('a', '1') as map<string, int>)", "try_cast(array(1.7D) as array<int>)"),
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("joined")) as connection:
        connection.sql(
            "create table t (n int, s string, d date, t timestamp, x binary, a array<int>) using hudi "
            "tblproperties (primaryKey = 'n')"
        )
        connection.sql(
            "insert into t values (2, 'abc', date '2024-01-31', timestamp '2024-01-31 10:00:00.5', cast('ab' as binary), "
            "array(cast(null as int)))"
        )
        yield connection


def test_values(db):
    source = "(select *, explode(array(0.00BD, 1.99BD)) as c from t)"
    given = {}
    for called in VALUES:
        given[called] = db.sql(
            f"select {called} as r from {source if '(c' in called or 'by c' in called else 't'}"
        ).rows()[0][0]
    assert given == VALUES


def test_what_is_refused_is_named(db):
    for called in REFUSED:
        with pytest.raises(SqlError):
            pytest.fail(f"{called}: {db.sql(f'select {called} as r from t').rows()}")


def test_an_array_of_bytes_is_no_text(db):
    for joined in ("array_join(array(cast('é' as binary)), '-')", "concat_ws('-', array(cast('é' as binary)))"):
        with pytest.raises(SqlError, match="cast its elements to STRING"):
            db.sql(f"select {joined}")

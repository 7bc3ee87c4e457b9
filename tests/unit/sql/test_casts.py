"""No value is rounded or cut on its way into a column, at any depth; what has the same digits goes in."""

from __future__ import annotations

from datetime import date

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, f float, g double, d date, m decimal(10, 2), n int, floats array<float>, days map<string, "
            "date>, s struct<x: array<struct<f: float>>>) using hudi tblproperties (primaryKey = 'id')"
        )
        yield connection


LOSSES = {
    "f": ("1e300D", "16777217", "16777217.0", "16777217.0D", "0.123456789"),
    "g": ("9007199254740993", "9007199254740993.0", "12345678901234567890.12"),
    "d": ("timestamp '2024-01-02 03:00:00'", "timestamp_ntz '2024-01-02 00:00:00.000001'"),
    "m": ("1.005", "1.005D"),
    "n": ("1.5", "1.5D", "3000000000"),
    "floats": ("array(1.5D, 1e300D)", "array(16777217.0)", "array('1')", "array(true)"),
    "days": ("map('k', timestamp '2024-01-02 03:00:00')",),
    "s": ("named_struct('x', array(named_struct('f', 1e300D)))",),
}


@pytest.mark.parametrize("column", LOSSES)
def test_what_would_be_rounded_or_cut_is_refused(db, column):
    for value in LOSSES[column]:
        with pytest.raises(SqlError, match=r"cannot be stored in column .*CAST it"):
            db.sql(f"insert into t (id, {column}) values (1, {value})")
    assert db.sql("select * from t").rows() == []


KEPT = {
    "f": {"0.1": 0.1, "0.1D": 0.1, "cast('-Infinity' as double)": float("-inf"), "16777216": 16777216.0},
    "g": {"0.1": 0.1, "cast(0.1 as decimal(38, 18))": 0.1, "cast(1.5 as float)": 1.5, "1e30": 1e30},
    "n": {"2.0": 2, "2.0D": 2},
    "d": {"timestamp '2024-01-02 00:00:00'": date(2024, 1, 2)},
    "floats": {"array(0.5, null)": [0.5, None], "array()": [], "null": None},
    "days": {"map()": []},
    "s": {
        "named_struct('x', array())": {"x": []},
        "named_struct('x', array(named_struct('f', 1.5D)))": {"x": [{"f": 1.5}]},
    },
}


@pytest.mark.parametrize("column", KEPT)
def test_values_with_the_same_digits_are_stored(db, column):
    for value, stored in KEPT[column].items():
        db.sql(f"insert overwrite t (id, {column}) values (1, {value}), (2, null)")
        (got,) = db.sql(f"select {column} from t where id = 1").rows()[0]
        assert got == (pytest.approx(stored) if isinstance(stored, float) else stored)


def test_an_update_rounds_to_a_float_and_goes_no_further(db):
    db.sql("insert into t (id, f) values (1, 0.3)")
    db.sql("update t set f = f * 1.1D, g = 0.12345678901234567890")
    assert db.sql("select f, g from t").rows()[0] == pytest.approx((0.33, 0.12345678901234568))
    with pytest.raises(SqlError, match=r"column f.*too large"):
        db.sql("update t set f = 1e300D")


@pytest.mark.parametrize("columns", ["n float", "p date", "n int, p float"])
def test_keys_and_partition_values_are_not_cut_either(tmp_path, columns):
    kinds = dict(part.split() for part in columns.split(", "))
    value = {"float": "16777217.0D", "date": "timestamp '2024-01-02 03:00:00'", "int": "7"}
    with connect(tmp_path) as db:
        partition = "partitioned by (p)" if "p" in kinds else ""
        key = "n" if "n" in kinds else "id"
        db.sql(f"create table k (id int, {columns}) using hudi tblproperties (primaryKey = '{key}') {partition}")
        with pytest.raises(SqlError, match="cannot be stored in column"):
            db.sql(f"insert into k select 1, {', '.join(value[kind] for kind in kinds.values())}")


def test_values_of_partition_are_not_cut_either(tmp_path):
    with connect(tmp_path) as db:
        for kind, wrong, right in (
            ("int", ("1.5", "'x'", "'1.5'", "date '2024-01-01'", "true", "3000000000"), ("1", "'2'", "null")),
            ("date", ("timestamp '2024-01-01 03:00:00'", "'x'"), ("'2024-01-02'", "date '2024-01-03'")),
            ("float", ("16777217", "'x'"), ("0.1", "0.1D", "'2.5'")),
            ("string", (), ("1.50", "date '2024-01-03'", "true")),
        ):
            db.sql(
                f"create table {kind}s (id int, p {kind}) using hudi tblproperties (primaryKey = 'id') partitioned by (p)"
            )
            for value in wrong:
                with pytest.raises(SqlError):
                    db.sql(f"insert into {kind}s partition (p = {value}) values (1)")
            for value in right:
                db.sql(f"insert into {kind}s partition (p = {value}) values (1)")
            assert len(db.sql(f"select distinct p from {kind}s").rows()) == len(right) - (kind == "float")


@pytest.mark.parametrize(("kind", "instead"), [("tinyint", "INT"), ("smallint", "INT"), ("char(3)", "STRING")])
def test_types_whose_limits_a_table_does_not_keep_are_refused(db, kind, instead):
    with pytest.raises(SqlError, match=f"declare it as {instead}"):
        db.sql(f"create table x (id int, s struct<a: {kind}>) using hudi tblproperties (primaryKey = 'id')")
    with pytest.raises(SqlError, match=f"declare it as {instead}"):
        db.sql(f"alter table t add columns (x {kind})")


def test_decimals_become_the_nearest_floats(tmp_path):
    """Arrow's own cast makes 1.9000000000000001 of the decimal 1.9."""
    with connect(tmp_path) as db:
        db.sql(
            "create table t (id int, x double, f float, c decimal(3, 1)) using hudi tblproperties (primaryKey = 'id')"
        )
        db.sql("insert into t values (1, 1.9, 1.9, 1.9D)")
        db.sql("insert into t values (2, 0, 0, 0); update t set x = 1.9, f = 1.9, c = 1.9D where id = 2")
        assert db.sql("select x = 1.9D and f = cast('1.9' as float) and c = 1.9 from t").rows() == [(True,), (True,)]


def test_decimals_and_far_dates_become_the_text_of_spark(tmp_path):
    """Arrow writes 0E-8 and 1E-8, and no sign before a year of five digits."""
    with connect(tmp_path) as db:
        db.sql(
            "create table t (id int, s string, d decimal(20, 8), day date, at timestamp) using hudi "
            "tblproperties (primaryKey = 'id')"
        )
        values = ("0.00000001", "0", "123.1", "-0.00000010")
        for number, value in enumerate(values):
            db.sql(f"insert into t (id, d) values ({number}, {value})")
        db.sql("update t set s = d")
        plain = ["0.00000001", "0.00000000", "123.10000000", "-0.00000010"]
        assert db.sql("select s, cast(d as string) from t order by id").rows() == [(text, text) for text in plain]
        db.sql("update t set day = date '12026-01-02', at = timestamp '12026-01-02 03:04:05' where id < 2")
        db.sql("merge into t using (select 0 as id) u on t.id = u.id when matched then update set s = t.day")
        db.sql("update t set s = at where id = 1")
        texts = [("+12026-01-02",), ("+12026-01-02 03:04:05",)]
        assert db.sql("select s from t where id < 2 order by id").rows() == texts


MOST = "12345678901234567890123456789012345678"
DECIMALS = {
    "d": f"cast('{MOST}' as decimal(38, 0))",
    "a": f"array(cast('{MOST}' as decimal(38, 0)))",
    "w": "1e38",
}


@pytest.fixture
def decimals(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, d decimal(38, 10), a array<decimal(38, 10)>, w decimal(38, 0), n decimal(3, 1)) "
            "using hudi tblproperties (primaryKey = 'id'); insert into t (id) values (1)"
        )
        yield connection


@pytest.mark.parametrize("column", DECIMALS)
def test_a_decimal_that_is_too_large_is_no_other_number(decimals, column):
    """Arrow's own cast gives 4650928448601668034595970762.1945210880."""
    for statement in ("insert into t (id, {}) select 2, {}", "update t set {} = {}"):
        with pytest.raises(SqlError, match="cannot be stored in column"):
            decimals.sql(statement.format(column, DECIMALS[column]))
    assert decimals.sql("select * from t").rows() == [(1, None, None, None, None)]


def test_floats_become_decimals_by_their_digits(decimals):
    decimals.sql("insert overwrite t (id, w) values (1, 1e23)")
    assert decimals.sql("select cast(w as string) from t").rows() == [("100000000000000000000000",)]
    decimals.sql("update t set w = 99999999.99, n = 9.951")
    assert decimals.sql("select cast(w as string), cast(n as string) from t").rows() == [("100000000", "10.0")]

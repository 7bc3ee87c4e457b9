"""Casts of texts that Spark 4.2 refuses, and of those that it reads, in columns and literals."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

REFUSED = {
    "int": ("1.5", "1e3", "1_000", "1.", "", " ", "inf", "99999999999", "0x10", "1L", "2026-01-05"),
    "decimal(10, 2)": ("1_000", "inf", "NaN", "99999999999", "1,000", ""),
    "double": ("1_000", "0x10", "1,000", "x"),
    "date": ("2026/01/05", "epoch", "infinity", "20260105", "12:00", "2026-02-30", "2026-01-05x", "1.5"),
    "timestamp": ("2026/01/05", "epoch", "now", "2026-01-05 24:00:00", "2026-01-05 12:00:60", "2026-01-05 12:00 (BC)"),
    "boolean": ("1.5", "2", "tru", ""),
}
READ = {
    "int": {" 7 ": "7", "+1": "1", "-01": "-1"},
    "decimal(10, 2)": {"1e3": "1000.00", " 1. ": "1.00", ".5": "0.50", "1.005": "1.01"},
    "double": {"1e3": "1000.0", "Infinity": "inf", " 1.5 ": "1.5"},
    "date": {"2026-1-5": "2026-01-05", "2026-01-05 xyz": "2026-01-05", "12026-01-05": "+12026-01-05"},
    "timestamp": {"2026-1-5 1:2:3": "2026-01-05 01:02:03", "2026-01-05T12:00:00+01:00": "2026-01-05 11:00:00"},
    "boolean": {"YES": "true", "0": "false"},
}


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql("create table t (id int, s string, n bigint) using hudi tblproperties (primaryKey = 'id')")
        connection.sql("create table one (id int) using hudi; insert into one values (1)")
        yield connection


def test_texts_that_are_no_value_of_a_type(db):
    for kind, texts in REFUSED.items():
        for text in texts:
            query = f"select {{}} from one, (values ('{text}')) v(s)"
            for value in ("s", f"'{text}'", "max(s)") if kind not in ("date", "timestamp") else ("s", f"'{text}'"):
                with pytest.raises(
                    SqlError, match=r"not a value of the type to which it is cast.*TRY_CAST|Conversion Error"
                ):
                    db.sql(query.format(f"cast({value} as {kind})")).rows()
        tried = ", ".join(f"try_cast('{text}' as {kind})" for text in texts)
        assert db.sql(f"select {tried} from one").rows() == [(None,) * len(texts)], kind
        column = ", ".join(f"('{text}')" for text in texts)
        for value, group in (("s", ""), ("max(s)", "group by s")):
            query = f"select try_cast({value} as {kind}) from one, (values {column}) v(s) {group}"
            assert db.sql(query).rows() == [(None,)] * len(texts), (kind, value)


def test_texts_that_are_values(db):
    for kind, texts in READ.items():
        for text, value in texts.items():
            casts = (f"cast(s as {kind})", f"cast('{text}' as {kind})", f"try_cast(s as {kind})")
            shown = ", ".join(f"cast({cast} as string)" for cast in casts)
            found = db.sql(f"select {shown} from one, (values ('{text}')) v(s)").rows()
            assert found == [(value,) * len(casts)], (kind, text)


def test_a_statement_whose_cast_fails_changes_nothing(db):
    """Numbers that do not fit are errors, too. A condition before the cast guards it, as in Spark."""
    db.sql("insert into t values (1, '1.5', 1), (2, '1', 3000000000), (3, null, 3)")
    rows = db.sql("select * from t order by id").rows()
    for statement in (
        "delete from t where cast(s as int) = 1",
        "delete from t where cast(n as int) is null",
        "update t set n = cast(s as bigint)",
        "merge into t using t u on t.id = u.id and cast(u.s as int) <=> null when matched then delete",
        "insert into t select id + 9, s, cast(s as int) from t",
    ):
        with pytest.raises(SqlError, match="not a value of the type"):
            db.sql(statement)
    assert db.sql("select * from t order by id").rows() == rows
    db.sql("delete from t where s not like '%.%' and cast(s as int) = 1")
    assert [row[0] for row in db.sql("select id from t order by id").rows()] == [1, 3]


@pytest.mark.parametrize(
    "value",
    [
        *("coalesce(n, '1.6')", "if(true, '1.6', n)", "case when true then '1.6' else n end", "greatest(n, '7.6')"),
        *("n * '1.6'", "array(n, '0x10')", "nvl2(n, '1e1', n)", "(select max(v) from (values (1), ('9.6')) as q(v))"),
        *(
            "decode(n, '5.4', 'a', 'b')",
            "decode('5.4', n, 'a', 'b')",
            "decode(s, 2, 'a', 'b')",
            "decode(n, s, 'a', 'b')",
        ),
        *("array_contains(array(n), '5.4')", "array_contains(array(5), '5.4')", "array_position(array(n), '5.4')"),
        *("n & '5.4'", "n | '5.4'", "n ^ '5.4'", "n << '1.4'", "shiftright(n, '1.4')"),
        *(
            "map(5, 'a')['5.4']",
            "element_at(map(n, 'a'), '5.4')",
            "array(1, 2)['0.4']",
            "element_at(array(1, 2), '1.4')",
        ),
    ],
)
def test_a_text_of_a_fraction_is_not_rounded_beside_a_number(tmp_path, value):
    with connect(tmp_path) as db:
        db.sql(
            "create table t (id int, n int, s string) using hudi tblproperties (primaryKey = 'id'); "
            "insert into t values (1, 5, '1.6')"
        )
        with pytest.raises(SqlError):
            db.sql(f"select {value} from t")
        assert db.sql("select coalesce(n, '7'), coalesce('1.6', id || '') from t").rows() == [(5, "1.6")]
        with pytest.raises(SqlError):
            db.sql("insert into t values (2, 1, 'x'), (3, '9.6', 'x')")
        assert db.sql("select * from t").rows() == [(1, 5, "1.6")]


def test_what_texts_and_numbers_find(db):
    finding = "decode(v, 1, 'a', null, 'n', '2', 'b'), decode(v, 1, 'a', 'z'), decode(v, 7, 'a')"
    rows = db.sql(f"select {finding} from (values (1), (2), (null)) q(v)").rows()
    assert rows == [("a", "a", None), ("b", "z", None), ("n", "z", None)]
    finding = "decode('1.6', '1.6', 1, 2), map('1.6', 'x')['1.6'], array_contains(array('1.6'), '1.6'), 6 & '3'"
    assert db.sql(f"select {finding}").rows() == [(1, "x", True, 2)]
    finding = "array_contains(array(1, 2), 2.0), array_contains(array(1, null), 2), array_contains(array(1, 2), 1.6)"
    assert db.sql(f"select {finding}").rows() == [(True, None, False)]

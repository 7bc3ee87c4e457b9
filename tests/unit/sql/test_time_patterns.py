"""Patterns of dates and times, as Spark 4.2 reads and writes them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

READ = {
    ("2026-01-02", "yyyy-MM-dd"): "2026-01-02 00:00:00",
    ("2026-1-2", "yyyy-M-d"): "2026-01-02 00:00:00",
    ("20260502030405", "yyyyMMddHHmmss"): "2026-05-02 03:04:05",
    ("2026-JAN-02 1:02 pm", "yyyy-MMM-dd h:mm a"): "2026-01-02 13:02:00",
    ("2026-01-02 23:59:59.123", "yyyy-MM-dd HH:mm:ss.SSSSSS"): "2026-01-02 23:59:59.123",
}
NOT_READ = (
    *(
        ("2026-1-2", "yyyy-MM-dd"),
        (" 2026-01-02", "yyyy-MM-dd"),
        ("2026-01-02 ", "yyyy-MM-dd"),
        ("26-01-02", "yyyy-MM-dd"),
    ),
    *(("2026-01-02", "yyyy-MM-dd HH:mm:ss"), ("2026-01-02 03:04:05", "yyyy-MM-dd"), ("2026/01/02", "yyyy-MM-dd")),
    *(("2026-01-02 24:00:00", "yyyy-MM-dd HH:mm:ss"), ("2026-01-02 3:4:5", "yyyy-MM-dd HH:mm:ss")),
    *(("2026-01-02\t03", "yyyy-MM-dd HH"), ("2026-01-02 1:02 PM", "yyyy-MM-dd hh:mm a")),
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("patterns")) as connection:
        connection.sql("create table t (s string, d date, t timestamp) using hudi")
        texts = {text for text, _ in (*READ, *NOT_READ)}
        connection.sql("insert into t values " + ", ".join(f"('{text}', date '0099-01-01', null)" for text in texts))
        yield connection


def test_texts_that_match(db):
    for (text, pattern), time in READ.items():
        for value in (f"'{text}'", "s", "max(s)"):
            query = f"select cast(to_timestamp({value}, '{pattern}') as string), unix_timestamp({value}, '{pattern}') > 0 from t"
            assert db.sql(f"{query} where s = '{text}'").rows() == [(time, True)], (value, pattern)
        days = db.sql(f"select cast(to_date(s, '{pattern}') as string) from t where s = '{text}'").rows()
        assert days == [(time[:10],)]


def test_other_texts_are_errors(db):
    for text, pattern in NOT_READ:
        for function in ("to_timestamp", "to_date", "unix_timestamp"):
            with pytest.raises(SqlError, match="not a time of this pattern"):
                db.sql(f"select {function}(s, '{pattern}') from t where s = '{text}'")
    with pytest.raises(SqlError, match="not a time of this pattern"):
        db.sql("select unix_timestamp('2026-01-02 3:4:5') from t")


def test_patterns_without_visible_ends_are_refused(db):
    for pattern in ("yyyyMd", "yyyyMMddHHmmssSSSSSS", "E yyyy-MM-dd", "d% yyyy"):
        with pytest.raises(SqlError, match="a pattern of times that DuckDB cannot read"):
            db.sql(f"select to_timestamp(s, '{pattern}') from t")


def test_years_that_spark_writes_otherwise(db):
    other = ("date_format(d, 'y')", "date_format(timestamp '12026-01-01', 'yyyy')", "from_unixtime(253402300800)")
    for called in (*other, "cast(date '0000-01-01' as string)", "date '0000-01-01' || ''"):
        with pytest.raises(SqlError, match="in another way than Spark"):
            db.sql(f"select {called} from t")
    texts = "cast(max(date '12026-01-02') as string), cast(max(d) as string), max(date '12026-01-02' || '')"
    assert db.sql(f"select {texts} from t").rows() == [("+12026-01-02", "0099-01-01", "+12026-01-02")]

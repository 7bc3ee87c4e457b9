"""Texts of dates and times, as Spark 4.2 reads them."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

DAYS = {
    "2026": "2026-01-01",
    "2026-02": "2026-02-01",
    " 2026-2 ": "2026-02-01",
    "2026-2-3": "2026-02-03",
    "2026-02-03 xyz": "2026-02-03",
    "2026-02-03T23:00:00-05:00": "2026-02-03",
}
TIMES = {
    "2026": "2026-01-01 00:00:00",
    "2026-02": "2026-02-01 00:00:00",
    "2026-02-03 10": "2026-02-03 10:00:00",
    "2026-02-03T4": "2026-02-03 04:00:00",
    "2026-02-03 10:30": "2026-02-03 10:30:00",
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("times")) as connection:
        connection.sql("create table t (s string) using hudi")
        connection.sql("insert into t values " + ", ".join(f"('{text}')" for text in {**DAYS, **TIMES}))
        yield connection


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (DAYS, ("date '{}'", "cast('{}' as date)", "date('{}')", "to_date('{}')")),
        (TIMES, ("timestamp '{}'", "cast('{}' as timestamp)", "timestamp_ntz '{}'", "to_timestamp('{}')")),
    ],
    ids=["date", "timestamp"],
)
def test_literals_and_columns(db, texts, forms):
    kind = "date" if texts is DAYS else "timestamp"
    for text, value in texts.items():
        literals = ", ".join(f"cast({form.format(text)} as string)" for form in forms)
        found = db.sql(f"select {literals}, cast(cast(s as {kind}) as string) from t where s = '{text}'").rows()
        assert found == [(value,) * (len(forms) + 1)], text


def test_what_is_no_time(db):
    for literal in ("date '2026-'", "date 'x'", "timestamp '2026-13'", "timestamp '20260203 10'"):
        with pytest.raises(SqlError, match=r"not a value of the type|Conversion Error"):
            db.sql(f"select {literal} from t")
    with pytest.raises(SqlError, match="'2026-'"):
        db.sql("select cast(concat(s, '-') as date) from t where s = '2026'")
    assert db.sql("select try_cast(concat(s, '-') as date) from t where s = '2026'").rows() == [(None,)]

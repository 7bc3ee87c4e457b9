"""Regular expressions: RE2 gives what Java gives, as in Spark 4.2, or the pattern is refused."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

# As Spark 4.2 gives them.
VALUES = {
    "split(s, null)": None,
    "split(s, '')": ["a", "b", "c"],
    "split(s, '[bx]')": ["a", "c"],
    "regexp_extract(s, '(b)(c)', 2)": "c",
    "regexp_replace(s, '^x*', '-')": "-abc",
    "regexp_replace(s, 'x*', '')": "abc",
    "regexp_count(s, '[a-b]')": 2,
    r"s rlike '\\[?[^]]'": True,
}
REFUSED = (
    *("regexp_extract(s, 'b')", "regexp_extract(s, '(b)', 2)", "regexp_extract(s, s)", "regexp_extract_all(s, '[(]b')"),
    *("s rlike '[[:alpha:]]'", "s rlike '[a-z&&[^b]]'", "s rlike '(?P<n>b)'", "s rlike concat('[[:alpha:]]', s)"),
    *("split(s, 'x*')", "regexp_count(s, '')", "regexp_replace(s, 'x*', '-')", "regexp_extract_all(s, 'x*', 0)"),
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("patterns")) as connection:
        connection.sql("create table t (s string) using hudi tblproperties (primaryKey = 's')")
        connection.sql("insert into t values ('abc')")
        yield connection


def test_values(db):
    assert {called: db.sql(f"select {called} as r from t").rows()[0][0] for called in VALUES} == VALUES


def test_what_java_reads_in_another_way_is_refused(db):
    for called in REFUSED:
        with pytest.raises(SqlError, match=r"regular expression|name group 0"):
            pytest.fail(f"{called}: {db.sql(f'select {called} as r from t').rows()}")

"""Patterns of Java on RE2: the matches are those of Java 17, or the pattern or the text is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sqlglot.errors import UnsupportedError

from hoodie.errors import SqlError
from hoodie.sql import connect
from hoodie.sql.java_signs import re2_pattern

TEXTS = (
    "abc",
    "abc\n",
    "abc\r\n",
    "abc\n\n",
    "a\rb",
    "a\nb",
    "a\u2028b",
    "a\x0bb",
    "a b",
    "",
    "\n",
    "é",
    "😀",
    "a.",
    "a$",
)
# As Java's Matcher.find gives them.
FOUND = {
    r"abc$": ("abc", "abc\n", "abc\r\n"),
    r"(b|c$)": ("abc", "abc\n", "abc\r\n", "abc\n\n", "a\rb", "a\nb", "a\u2028b", "a\x0bb", "a b"),
    r"^$": ("", "\n"),
    r"a.b": ("a\x0bb", "a b"),
    r"(?s)a.b": ("a\rb", "a\nb", "a\u2028b", "a\x0bb", "a b"),
    r"(?s:a.)b": ("a\rb", "a\nb", "a\u2028b", "a\x0bb", "a b"),
    r"((?s)a.)b|a.b": ("a\rb", "a\nb", "a\u2028b", "a\x0bb", "a b"),
    r"(?s)(?-s:a.b)": ("a\x0bb", "a b"),
    r"a\sb": ("a\rb", "a\nb", "a\x0bb", "a b"),
    r"a[\s]b": ("a\rb", "a\nb", "a\x0bb", "a b"),
    r"a\Sb": ("a\u2028b",),
    r"a\vb": ("a\rb", "a\nb", "a\u2028b", "a\x0bb"),
    r"a[\v]b": ("a\rb", "a\nb", "a\u2028b", "a\x0bb"),
    r"^.$": ("é", "😀"),
    r"a\.$": ("a.",),
    r"a[.$]$": ("a.", "a$"),
    r"\Qa.\E$": ("a.",),
    r"a\$": ("a$",),
    r"a\x{2e}": ("a.",),
    r"[^]a]b": ("a\rb", "a\nb", "a\u2028b", "a\x0bb", "a b"),
    r"b{1}c{1,}": ("abc", "abc\n", "abc\r\n", "abc\n\n"),
    r"(?i)ABC$": ("abc", "abc\n", "abc\r\n"),
}
REFUSED = (
    r"a{,3}",
    r"a{x",
    r"(?U)a",
    r"(?-U:a)",
    r"\C",
    r"a$b",
    r"(?i)ä",
    r"(?i)[ä]",
    r"(?i)\p{L}",
    r"[\S]",
    r"[\Qa\E]",
)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("signs")) as connection:
        connection.sql("create table t (id int, s string) using hudi tblproperties (primaryKey = 'id')")
        rows = pa.table({"id": pa.array(range(len(TEXTS)), pa.int32()), "s": TEXTS})
        for row in rows.to_pylist():
            connection.sql("insert into t values (?, ?)", [row["id"], row["s"]])
        yield connection


def _literal(pattern):
    return "'" + pattern.replace("\\", "\\\\") + "'"


def test_texts_in_which_java_finds_a_match(db):
    found = {}
    for pattern in FOUND:
        rows = db.sql(f"select s from t where s rlike {_literal(pattern)} order by id").rows()
        found[pattern] = tuple(row[0] for row in rows)
    assert found == FOUND


@pytest.mark.parametrize("pattern", REFUSED)
def test_signs_that_re2_reads_in_another_way(pattern):
    with pytest.raises(UnsupportedError):
        re2_pattern(pattern, finds=True)


@pytest.mark.parametrize("pattern", ["[a", "a\\", "(a"])
def test_a_pattern_that_java_refuses_stays_one_that_re2_refuses(db, pattern):
    with pytest.raises(SqlError, match="DuckDB cannot run"):
        db.sql(f"select s from t where s rlike {_literal(pattern)}")


@pytest.mark.parametrize(
    "value",
    ["regexp_replace(s, 'c$', '')", "regexp_extract(s, '(c)$', 1)", "s rlike '(?m)b$'", "s rlike concat('c', '$')"],
)
def test_texts_of_several_lines_are_refused_where_places_matter(db, value):
    assert db.sql(f"select {value} as r from t where s = 'abc'").rows()
    with pytest.raises(SqlError, match=r"line ends|several lines"):
        db.sql(f"select {value} as r from t")


def test_a_delete_keeps_rows_whose_line_ends_behind_the_match(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table k (s string) using hudi tblproperties (primaryKey = 's')")
        db.sql("insert into k values ('keep\\n'), ('other')")
        db.sql("delete from k where s not rlike 'keep$'")
        assert db.sql("select s from k").rows() == [("keep\n",)]

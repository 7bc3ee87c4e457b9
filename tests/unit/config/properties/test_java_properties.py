"""Java's properties format: what java.util.Properties writes is read, what we write comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.config.properties.java_properties import format_properties, parse_properties


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=5))
def test_what_is_written_comes_back(values):
    assert parse_properties(format_properties(values, "a comment")) == values


@given(
    st.dictionaries(st.text(" \\=:#!\t\n\r\fuab0", max_size=6), st.text(" \\=:#!\t\n\r\fuab0", max_size=6), max_size=3)
)
def test_so_do_the_characters_that_need_an_escape(values):
    assert parse_properties(format_properties(values, "a comment")) == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", {"a": "1"}),
        ("a:1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("  a \t = \f 1 ", {"a": "1 "}),
        ("a", {"a": ""}),
        ("a==1", {"a": "=1"}),
        ("a = : 1", {"a": ": 1"}),
        ("# a=1\n! b=2\n\n   # c=3\nd=4", {"d": "4"}),
        ("a=1 # no comment", {"a": "1 # no comment"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1,\\\n    2,\\\r\n\t3", {"a": "1,2,3"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n# kept", {"a": "1# kept"}),
        ("a\\ b\\=c\\:d=1", {"a b=c:d": "1"}),
        ("url=s3\\://lake/x\\=y", {"url": "s3://lake/x=y"}),
        ("a=\\t\\n\\q\\\\", {"a": "\t\nq\\"}),
        ("name=gr\\u00FC\\u00dfe", {"name": "grüße"}),
        ("name=\\uD83D\\uDE00", {"name": "😀"}),
        ("", {}),
    ],
)
def test_what_java_accepts(text, expected):
    assert parse_properties(text.encode("ascii")) == expected


def test_bytes_are_latin_1():
    assert parse_properties(b"name=gr\xfc\xdfe") == {"name": "grüße"}


@pytest.mark.parametrize("text", [b"a=\\u12", b"a=\\uxyz1", b"\\u=1", b"a=\\ud83d!"])
def test_a_broken_escape_is_refused(text):
    with pytest.raises(ValueError, match=r"escape|decode"):
        parse_properties(text)


def test_as_java_writes_it():
    written = format_properties({"b": " x: y#", "a": "gr😀"}, "Updated")
    assert written == b"#Updated\na=gr\\ud83d\\ude00\nb=\\ x\\: y\\#\n"

"""Patterns of tables, as Flink CDC writes them."""

from __future__ import annotations

import re

import pytest

from hudi_services.registry.pipeline.patterns import patterns_of


def matched(text, *names, **said):
    expression = "|".join(pattern.whole for pattern in patterns_of(text, **said))
    return [name for name in names if re.fullmatch(expression, name)]


def test_a_dot_parts_database_and_table_and_an_escaped_one_is_any_character():
    names = ("db.t", "db1.t", "db12.t", "dbxt", "db.order", "a.x,y")
    assert matched(r"db.t", *names) == ["db.t"]
    assert matched(r" db\..t , db.\.*order ", *names) == ["db1.t", "db.order"]
    assert matched(r"a.x\,y,", *names) == ["a.x,y"]
    assert matched(r"DB.(T|o)", "db.t", "db.O", "db.x", any_case=True) == ["db.t", "db.O"]
    assert [one.literal for one in patterns_of(r"a.b_1,a.\d")] == ["a.b_1", None]


@pytest.mark.parametrize("text", ["t", "a.b.c", "adb.*", ".t", "a.", "a.(", ",", "[a].b.c", r"a\.+"])
def test_text_that_is_no_pattern_says_what_is_one(text):
    with pytest.raises(ValueError, match=r"DATABASE\.TABLE|no regular expression|names no table"):
        patterns_of(text)

"""Expectations as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from hudi_services.entry.feed.expect import Expect, filter_text
from hudi_services.entry.feed.flag import feed_flag
from hudi_services.entry.feed.model import Feed, contradictions

WHOLE = {
    "rows": ">= 100",
    "amount": ">= 0",
    "unique": ["order_id"],
    "freshness": "1d",
    "city": ["not null", "like 'A%'"],
}


def test_columns_are_keys_of_their_own_or_below_columns():
    found = Expect.model_validate(WHOLE)
    assert found.texts == ("rows >= 100", "amount >= 0", "city not null", "city like 'A%'", "unique order_id")
    assert (found.freshness, found.on_failure, found.reads_rows) == (timedelta(days=1), "stop", True)
    assert Expect.model_validate({"columns": {"rows": "> 0"}}).conditions == (("rows", "> 0"),)
    assert not Expect.model_validate({"freshness": "2h"}).reads_rows
    assert Expect().texts == ()


def test_they_go_through_the_flag_of_the_command():
    feed = Feed.model_validate({"expect": WHOLE})
    assert Feed.model_validate_json(feed_flag(feed)[1]) == feed


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"on_failur": "warn"}, "'warn' is no condition; write >= 0"),
        ({"amount": "sum > 3"}, "'sum > 3' is no condition"),
        ({"rows": "not null"}, "no condition of a number of rows"),
        ({"rows": 5}, "valid string"),
        ({"on_failure": "stp"}, "'stop' or 'warn'"),
        ({"freshness": "0s"}, "greater than"),
        ({"a": "> 1", "columns": {"a": "> 2"}}, "names the column 'a' twice"),
        ({"columns": ["a"]}, "valid dictionary"),
    ],
)
def test_mistakes(said, told):
    with pytest.raises(ValidationError, match=told):
        Expect.model_validate(said)


def test_a_condition_as_a_filter():
    assert filter_text("amount", ">= 0") == '"amount" >= 0'
    assert filter_text("a", "> 0 and <= 5") == '"a" > 0 and "a" <= 5'
    assert filter_text("a", "between 1 and 5") == '"a" between 1 and 5'
    assert filter_text("a.b", " NOT  NULL ") == '"a"."b" is not null'
    assert filter_text('q"', "in (1, 2)") == '"q""" in (1, 2)'


def test_columns_that_are_not_declared_are_contradictions():
    feed = {
        "schema": {"a": "int", "b": "int"},
        "rename": {"b": "c"},
        "expect": {"b": "> 1", "c": "> 1", "unique": ["a", "x"]},
    }
    wrong = [path for path, _ in contradictions(Feed.model_validate(feed), "csv")]
    assert wrong == [("expect", "b"), ("expect", "unique")]
    assert not list(contradictions(Feed.model_validate({**feed, "sql": "select 1 as x from batch"}), "csv"))

"""Rows of JSON that are nested too deep to be read again are quarantined."""

from __future__ import annotations

import json

import pytest

ROW = {"id": "a", "part": "p", "ts": 1, "value": 1}


def column(feed, name):
    return {row["id"]: row[name] for row in feed.open().read(columns=["id", name]).to_pylist()}


@pytest.mark.parametrize("depth", [50, 20_000])
def test_a_json_row_that_is_nested_too_deep_goes_to_the_quarantine(feed, depth):
    """Arrow's reader ends the process at the greater depth."""
    deep = json.dumps({**ROW, "id": "deep"})[:-1] + ', "more": ' + "[" * depth + "]" * depth + "}"
    texts = [json.dumps(row) for row in (ROW, {**ROW, "id": "braces", "text": "[" * depth}, {**ROW, "id": "c"})]
    feed.land("x.json", "\n".join([*texts[:2], deep, texts[2]]))
    feed.run("json", max_bad_share=0.5)
    assert sorted(column(feed, "ts")) == ["a", "braces", "c"]
    ((file, reason, _),) = feed.quarantined
    assert (file, reason.partition(":")[0]) == ("x.json", "line 3")
    assert "nested too deep" in reason


def test_a_json_row_that_is_too_deep_for_a_declared_map_goes_to_the_quarantine(feed):
    columns = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint", "more": "map<string, array<int>>"}
    deep = json.dumps({**ROW, "id": "deep"})[:-1] + ', "more": {"k": ' + "[" * 5000 + "]" * 5000 + "}}"
    feed.land("x.json", "\n".join([json.dumps({**ROW, "more": {"k": [1]}}), deep]))
    feed.run("json", declared={"schema": columns}, max_bad_share=0.5)
    assert column(feed, "more") == {"a": [("k", [1])]}
    ((_, reason, _),) = feed.quarantined
    assert "nested too deep" in reason

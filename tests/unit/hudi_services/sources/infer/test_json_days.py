"""Dates in JSON files."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.infer.json_days import ITEM, paths_of_days, with_days

DAY, MIDNIGHT = "2026-07-01", "2026-07-01T00:00:00"


def test_paths_at_which_all_values_are_days():
    rows = [
        {"a": DAY, "b": DAY, "in": {"c": DAY, "d": MIDNIGHT}, "list": [DAY, None]},
        {"a": None, "b": MIDNIGHT, "in": {"c": DAY}, "list": []},
    ]
    assert paths_of_days(rows) == {("a",), ("in", "c"), ("list", ITEM)}
    assert paths_of_days([]) == frozenset()


def test_types_also_inside_and_under_another_name():
    time = pa.timestamp("us")
    schema = pa.schema({"a_b": time, "in": pa.struct({"c": time, "d": time}), "list": pa.list_(time), "n": pa.int64()})
    days = frozenset({("a b",), ("in", "c"), ("list", ITEM)})
    assert with_days(schema, days, {"a_b": "a b"}) == {
        "a_b": pa.date32(),
        "in": pa.struct({"c": pa.date32(), "d": time}),
        "list": pa.list_(pa.date32()),
    }
    assert with_days(schema, frozenset(), {}) == {}

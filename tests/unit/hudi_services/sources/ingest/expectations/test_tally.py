"""Rows that break conditions."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from hudi_services.sources.ingest.expectations.tally import Tally, Tallying

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "condition", "broken", "example"),
    [
        ([1, -1, None, -2], ">= 0", 2, "-1"),
        ([1.5, NAN, None], ">= 0", 1, "NaN"),
        ([1.5, NAN, None, -1.0], ">= 0 and <= 9", 2, "NaN"),
        ([NAN, None], "not null", 1, "null"),
        (["a", "B", None], "in ('a', 'b')", 1, "B"),
        (["abc", "x"], "like 'a%'", 1, "x"),
        ([None, None], "> 0", 0, None),
        ([{"b": 1}, {"b": -1}, None], "> 0", 1, "-1"),
    ],
)
def test_conditions(values, condition, broken, example):
    kind = pa.int64() if values == [None, None] else None
    rows = pa.table({"a": pa.array(values, kind)})
    column = "a.b" if pa.types.is_struct(rows.schema.field("a").type) else "a"
    tallying = pickle.loads(pickle.dumps(Tallying(((column, condition),), rows.schema)))
    found = tallying(0, iter(rows.to_batches(max_chunksize=1)))
    assert (found.rows, found.broken) == (rows.num_rows, [broken])
    assert (found.examples[0] or "").lower() == (example or "").lower()


def test_tallies_of_splits_add_up():
    parts = [Tally(3, [1, 0], ["x", None]), Tally(4, [2, 1], ["y", "z"])]
    assert Tally.union(parts, 2) == Tally(7, [3, 1], ["x", "z"])
    assert Tally.union([], 1) == Tally(0, [0], [None])

"""The last of several changes of a key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import DataError
from hoodie.model.internal_columns import DELETION, ORDER
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.write.change_order import last_changes


def last(*rows, deletes_first=False, order=True):
    """The (key, value) of the last of (key, value, place, ordering value), None as the value of deletes."""
    keys, values, places, ts = zip(*rows, strict=True)
    table = pa.table(
        {
            RECORD_KEY: keys,
            "value": pa.array(values, pa.float64()),
            "ts": ts,
            ORDER + "0": places,
            DELETION: [value is None for value in values],
        }
    )
    kept = last_changes(
        table,
        (RECORD_KEY,),
        [ORDER + "0"] if order else [],
        ("ts",) if deletes_first else (),
        deletes_first=deletes_first,
    )
    return list(zip(kept[RECORD_KEY].to_pylist(), kept["value"].to_pylist(), strict=True))


def test_the_greatest_place_wins():
    rows = [
        ("a", 1, 1.0, 0),
        ("b", 5, 1.0, 0),
        ("a", 3, float("nan"), 0),
        ("a", 2, 7.0, 0),
        ("c", None, 1.0, 0),
        ("c", 4, 0.5, 0),
    ]
    assert last(*rows) == [("b", 5), ("a", 3), ("c", None)], "NaN is the greatest number, as for ordering fields"
    assert last(("a", 1, 1, 0), ("b", 2, 1, 0), order=False) == [("a", 1), ("b", 2)]


def test_changes_of_equal_place():
    """They are no question if they leave the same, or if deletes come first."""
    assert last(("a", 1, 1, 0), ("a", 1, 1, 0), ("b", None, 1, 0), ("b", None, 1, 9))[0] == ("a", 1)
    assert last(("a", 9, 0, 0), ("a", 8, 0, 0), ("a", 1, 1, 0)) == [("a", 1)], "an earlier tie does not matter"
    assert last(("a", 1, 1, 0), ("a", None, 1, 0), deletes_first=True) == [("a", 1)]
    for other in (2, None):
        with pytest.raises(DataError, match="same place in the order: key 'a'"):
            last(("z", 1, 0, 0), ("a", 1, 1, 0), ("a", other, 1, 0))
    with pytest.raises(DataError, match="null value"):
        last(("a", 1, 1, 0), ("a", 2, None, 0))


def test_a_row_that_returns_with_a_lower_ordering_value():
    assert last(("a", None, 1, 5), ("a", 1, 2, 5), deletes_first=True) == [("a", 1)]
    with pytest.raises(DataError, match="'a' is deleted, and returns"):
        last(("a", None, 1, 5), ("a", 1, 2, 4), deletes_first=True)

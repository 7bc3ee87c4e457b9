"""Rows that share a key: the one with the greatest ordering values is left, of equals the last."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.merge.batch import key_numbers, latest_per_key
from hoodie.model.internal_columns import SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY


def rows(*entries, ordering=("o",), sequence=None):
    """Rows of (key, partition, ordering value ...)."""
    keys, partitions, *values = zip(*entries, strict=True)
    columns = {name: pa.array(column, pa.int64()) for name, column in zip(ordering, values, strict=True)}
    places = pa.array(sequence or range(len(keys)), pa.int64())
    return pa.table({RECORD_KEY: keys, PARTITION_PATH: partitions, **columns, SEQUENCE: places})


def left(table, ordering=("o",)):
    return latest_per_key(table, ordering)[SEQUENCE].to_pylist()


@pytest.mark.parametrize(
    ("values", "kept"), [((1, 2), 1), ((2, 1), 0), ((2, 2), 1), ((None, 1), 1), ((1, None), 0), ((None, None), 1)]
)
def test_of_two_rows_of_a_key(values, kept):
    assert left(rows(("x", "p", 0), *(("k", "p", value) for value in values))) == [0, kept + 1]


def test_a_later_field_decides_between_equals_only():
    two = ("a", "b")
    assert left(rows(("k", "p", 1, 9), ("k", "p", 2, 0), ordering=two), two) == [1]
    assert left(rows(("k", "p", 1, 9), ("k", "p", 1, 0), ordering=two), two) == [0]


def test_a_key_may_be_in_several_partitions():
    assert left(rows(("k", "p", 1), ("k", "q", 2), ("k", "p", 3), ("l", "p", 0))) == [1, 2, 3]
    assert latest_per_key(rows(("k", "p", 1), ("k", "q", 2)), ("o",), (RECORD_KEY,))[SEQUENCE].to_pylist() == [1]


def test_the_order_is_that_of_the_sequence():
    assert left(rows(("a", "p", 1), ("k", "p", 1), ("b", "p", 1), ("k", "p", 0), sequence=[7, 3, 5, 4])) == [3, 5, 7]
    table = rows(("a", "p", 1), ("b", "p", 1), sequence=[7, 3])
    assert latest_per_key(table, ("o",)) is table, "no two share a key"


def test_numbers_of_keys():
    assert key_numbers(rows(("a", "p", 1), ("b", "p", 1))) is None
    numbers = key_numbers(rows(("a", "p", 1), ("b", "q", 1), ("a", "q", 1), ("a", "p", 1))).tolist()
    assert numbers[0] == numbers[3]
    assert len(set(numbers)) == 3
    assert max(numbers) < 4
    assert key_numbers(pa.table({"n": pa.array([5, 0, 5], pa.int64())}), ("n",)).tolist() == [1, 0, 1]
    assert key_numbers(rows(("a", "p", 1)).slice(0, 0)) is None

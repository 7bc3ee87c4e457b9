"""Matrices of test parameters: `make test` runs a subset in which each pair of values meets, `make test-deep` every row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product

import pytest

# A pair of values: (axis, value), (axis, value). Values are compared by their place in the rows, so they need no hash.
_Pair = tuple[tuple[int, int], tuple[int, int]]


def pairwise(*axes: Iterable[object]) -> list[object]:
    """Parameters for `pytest.mark.parametrize`: the product of `axes`, of which the rows that add no new pair are deep."""
    return covering(list(product(*axes)))


def covering(rows: Sequence[tuple[object, ...]]) -> list[object]:
    """`rows` in their order; those that a greedy choice does not need to cover every pair of values are marked deep."""
    chosen = _chosen(rows)
    skipped = pytest.mark.deep("each pair of values meets in the rows that `make test` runs")
    return [pytest.param(*row, marks=() if place in chosen else skipped) for place, row in enumerate(rows)]


def _chosen(rows: Sequence[tuple[object, ...]]) -> set[int]:
    pairs = [_pairs(row, rows) for row in rows]
    missing = set().union(*pairs)
    chosen: set[int] = set()
    while missing:
        best = max(range(len(rows)), key=lambda place: (len(pairs[place] & missing), -place))
        chosen.add(best)
        missing -= pairs[best]
    return chosen


def _pairs(row: tuple[object, ...], rows: Sequence[tuple[object, ...]]) -> set[_Pair]:
    """The pairs of one row; of a row of one value, that value with itself."""
    places = [
        (axis, next(place for place, other in enumerate(rows) if other[axis] == value))
        for axis, value in enumerate(row)
    ]
    return set(combinations(places, 2)) or {(places[0], places[0])}

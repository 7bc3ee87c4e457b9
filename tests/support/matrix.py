"""Matrices of test parameters: `make test` runs some rows, `make test-deep` every row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import combinations, product

import pytest

DEEP = os.environ.get("DEEP") == "1"  # set by `make test-deep`
other_server = pytest.mark.deep("a server of another product: one smoke test of this file runs in `make test`")

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


def diagonal(*axes: Iterable[object]) -> list[object]:
    """Parameters of the product of `axes`; those off its diagonal are deep. A tuple is several parameters of one axis."""
    lists = [list(axis) for axis in axes]
    lengths = [len(values) for values in lists]
    steps = {tuple(step % length for length in lengths) for step in range(max(lengths))}
    places = list(product(*map(range, lengths)))
    rows = [_flat(values[at] for values, at in zip(lists, place, strict=True)) for place in places]
    return sample(rows, *(number for number, place in enumerate(places) if place in steps))


def sample(rows: Iterable[object], *places: int) -> list[object]:
    """`rows`, of which `make test` runs those at `places`; the others are deep."""
    other = pytest.mark.deep("the same path with another table version, table type or peer")
    return [pytest.param(*_flat([row]), marks=() if number in places else other) for number, row in enumerate(rows)]


def _flat(parts: Iterable[object]) -> tuple[object, ...]:
    return tuple(value for part in parts for value in (part if isinstance(part, tuple) else (part,)))

"""Matrices of test parameters: `make test` runs some rows, `make test-deep` every row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from inspect import signature
from itertools import combinations, product
from zlib import crc32

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


_TYPES = ({"COPY_ON_WRITE", "cow"}, {"MERGE_ON_READ", "mor"})
_VERSIONS = ({"6"}, {"9"})


def leave_out_crosses(items: Iterable[pytest.Item]) -> None:
    """Mark half of a test's rows deep where it takes both table types with both versions: each type keeps one version.

    The name of the test chooses it. A test that has deep rows already stays as it is.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, rows in tests.items():
        places = [_place(row) for row in rows]
        if set(places) != set(product((0, 1), (0, 1))) or any(row.get_closest_marker("deep") for row in rows):
            continue
        kept = crc32(name.encode()) % 2
        for row, place in zip(rows, places, strict=True):
            if place is not None and sum(place) % 2 != kept:
                row.add_marker(pytest.mark.deep("each table type and each version meets the other parameters"))


def leave_out_types(items: Iterable[pytest.Item], reason: str, asked: str = "") -> None:
    """Mark one of two rows deep that differ only in the table type, but for tests whose own arguments have the name `asked`.

    Their name chooses it, so that each type meets half of them. A row that is deep already stays with its pair as it is.
    """
    pairs: dict[str, dict[int, pytest.Item]] = {}
    for item in items:
        types = _types(item)
        if len(types) == 1 and asked not in _asked(item):
            name, _, values = item.nodeid.partition("[")
            for value in set().union(*_TYPES):
                values = values.replace(value, "")
            pairs.setdefault(f"{name}[{values}", {})[types[0]] = item
    for name, pair in pairs.items():
        if len(pair) == 2 and not any(row.get_closest_marker("deep") for row in pair.values()):
            pair[1 - crc32(name.encode()) % 2].add_marker(pytest.mark.deep(reason))


def _place(item: pytest.Item) -> tuple[int, int] | None:
    """The table type and the table version of a row; None where it does not have one of each."""
    types, versions = _types(item), _places(item, _VERSIONS)
    return (types[0], versions[0]) if len(types) == len(versions) == 1 else None


def _types(item: pytest.Item) -> list[int]:
    return _places(item, _TYPES)


def _places(item: pytest.Item, axis: Sequence[set[str]]) -> list[int]:
    """Those of the values of a row on an axis."""
    flat = _flat(_parameters(item).values())  # the parameter of a fixture may be a type with a version
    given = [value for value in flat if isinstance(value, str)]
    return [place for place, names in enumerate(axis) for value in given if value in names]


def _parameters(item: pytest.Item) -> dict[str, object]:
    called = getattr(item, "callspec", None)
    return {} if called is None else called.params


def _asked(item: pytest.Item) -> Iterable[str]:
    """The arguments of the test's own function, without those of its fixtures."""
    return signature(item.function).parameters if isinstance(item, pytest.Function) else ()


def _flat(parts: Iterable[object]) -> tuple[object, ...]:
    return tuple(value for part in parts for value in (part if isinstance(part, tuple) else (part,)))

"""Places on space-filling curves."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.services.clustering.curves import hilbert, ordered_bits, ranks, z_order


def grid(side, columns):
    return np.stack(np.meshgrid(*[np.arange(side, dtype=np.uint64)] * columns, indexing="ij"), axis=-1).reshape(
        -1, columns
    )


def in_order(points, places):
    return points[np.lexsort(places.T[::-1])].astype(np.int64)


@pytest.mark.parametrize(("side", "columns"), [(16, 2), (8, 3), (256, 1)])
@pytest.mark.parametrize("bits", [8, 16, 64])
def test_hilberts_curve_never_jumps(side, columns, bits):
    line = in_order(grid(side, columns), hilbert(grid(side, columns), bits))
    assert len(np.unique(line, axis=0)) == side**columns
    steps = np.abs(np.diff(line, axis=0)).sum(axis=1)
    assert set(steps.tolist()) == {1}


@given(st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), min_size=1, max_size=20))
def test_z_order_takes_bits_by_turns(points):
    told = z_order(np.array(points, dtype=np.uint64), 64)
    for point, words in zip(points, told.tolist(), strict=True):
        turns = "".join("".join(bits) for bits in zip(*(f"{value:064b}" for value in point), strict=True))
        assert "".join(f"{word:064b}" for word in words) == turns


def test_few_bits_take_few_words():
    assert z_order(np.array([[3, 1]], dtype=np.uint64), 16).tolist() == [[0b1011 << 32]]


KINDS = [
    (pa.int8(), [-128, -1, 0, 1, 127]),
    (pa.int64(), [-(2**63), -5, 0, 5, 2**63 - 1]),
    (pa.uint32(), [0, 1, 2**32 - 1]),
    (pa.float64(), [float("-inf"), -1.5, -0.0, 1e-300, 2.0, float("inf")]),
    (pa.float32(), [-1.5, 0.0, 2.0]),
    (pa.bool_(), [False, True]),
    (pa.date32(), [date(1950, 1, 1), date(1970, 1, 1), date(2026, 1, 1)]),
    (pa.timestamp("us", "UTC"), [datetime(1950, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]),
    (pa.decimal128(10, 2), [Decimal("-10.50"), Decimal("0"), Decimal("7.25")]),
    (pa.string(), ["", "a", "a\x01", "ab", "b", "é"]),
    (pa.binary(), [b"", b"\x01", b"\xff"]),
]


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=lambda each: str(each) if isinstance(each, pa.DataType) else "")
def test_bits_are_ordered_as_their_values(kind, values):
    told = ordered_bits(pa.chunked_array([pa.array(values, kind), pa.array([None], kind)]))
    assert told[-1] == 0
    found = told[:-1].tolist()
    assert found == sorted(found)
    assert len(set(found)) == len(values)


def test_of_texts_the_first_eight_bytes_count():
    told = ordered_bits(pa.chunked_array([pa.array(["x", "abcdefgh1", "abcdefgh2", "abcdefg"])[1:]]))
    assert told.tolist() == [struct.unpack(">Q", text)[0] for text in (b"abcdefgh", b"abcdefgh", b"abcdefg\0")]


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=lambda each: str(each) if isinstance(each, pa.DataType) else "")
def test_ranks_among_bounds(kind, values):
    bounds = pa.array(values[1:], kind)
    assert ranks(pa.chunked_array([pa.array([None, *values], kind)]), bounds).tolist() == [0, 0, *range(1, len(values))]

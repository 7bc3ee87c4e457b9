"""Checksums of many tables: sums of few chunks differ where those of many do, and values of wider types keep their digits."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.equality.chunks import CHUNKS, ChunkSums
from hudi_services.sources.cdc.mysql.equality.shard_sums import ShardSums, as_declared, chunk_bits


def test_a_thousand_tables_have_fewer_chunks_each():
    assert [chunk_bits(count) for count in (1, 64, 65, 1_000, 10**9)] == [16, 16, 15, 12, 4]
    assert ShardSums.of(1_000).rows.nbytes <= 32 << 20


def test_a_row_more_or_less_differs_in_its_chunk_of_its_table():
    draw = np.random.default_rng(7)
    sides = ShardSums.of(100), ShardSums.of(100)
    for number in range(100):
        for side in sides:
            sums = ChunkSums()
            sums.add(np.arange(0, CHUNKS, 7), np.ones(len(range(0, CHUNKS, 7)), np.uint64), np.uint64(number + 1))
            side.put(number, sums)
    assert not sides[0].differing(sides[1]).any()
    other = ChunkSums()
    other.add(np.arange(0, CHUNKS, 7), np.ones(len(range(0, CHUNKS, 7)), np.uint64), np.uint64(4))
    place = int(draw.integers(CHUNKS // 7)) * 7
    other.digests[place] ^= np.uint64(1)
    sides[1].put(3, other)
    differing = sides[0].differing(sides[1])
    assert np.argwhere(differing).tolist() == [[3, place >> (16 - chunk_bits(100))]]


@pytest.mark.parametrize(
    ("stored", "kind", "expected"),
    [
        (pa.array([1.1, 0.1 + 1e-12, None, -0.0]), pa.float32(), [1.100000023841858, 0.1 + 1e-12, None, -0.0]),
        (pa.array([5, 2**40]), pa.int32(), [5, 2**40]),
        (pa.array([1, None], pa.decimal128(9, 2)), pa.decimal128(9, 1), [1, None]),
        (pa.array([Decimal("1.25")]), pa.decimal128(9, 1), [Decimal("1.25")]),
    ],
)
def test_values_of_a_wider_type(stored, kind, expected):
    values = as_declared(stored, kind)
    assert values.to_pylist() == expected
    if pa.types.is_decimal(kind) and expected[0] == 1:
        assert values.type == kind

"""The vectorised hash equals the plain one, byte for byte as Java reads them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.formats.murmur import mix, murmur2

M, MASK = 0x5BD1E995, 0xFFFFFFFF


def plain(key: bytes, seed: int) -> int:
    """org.apache.hudi.common.util.hash.MurmurHash, statement by statement."""
    state = (seed ^ len(key)) & MASK
    whole = len(key) // 4
    for i in range(whole):
        word = int.from_bytes(key[4 * i : 4 * i + 4], "little")
        word = word * M & MASK
        word ^= word >> 24
        word = word * M & MASK
        state = (state * M & MASK) ^ word
    tail = [byte - 256 if byte > 127 else byte for byte in key[4 * whole :]]  # Java's bytes have signs
    if tail:
        if len(tail) >= 3:
            state ^= (tail[-3] << 16) & MASK
        if len(tail) >= 2:
            state ^= (tail[-2] << 8) & MASK
        state ^= tail[-1] & MASK
        state = state * M & MASK
    state ^= state >> 13
    state = state * M & MASK
    return state ^ (state >> 15)


@given(st.lists(st.text(max_size=20), max_size=50), st.integers(0, MASK))
def test_it_is_the_plain_hash(keys, seed):
    result = murmur2(pa.array(keys, pa.string()), seed)
    assert result.dtype == np.uint32
    assert result.tolist() == [plain(key.encode(), seed) for key in keys]


@given(st.lists(st.text(max_size=9), min_size=1, max_size=60), st.data())
def test_slices_and_chunks_change_nothing(keys, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(keys)), max_size=4)))
    column = pa.array(["before", *keys], pa.string()).slice(1)
    pieces = [column.slice(low, high - low) for low, high in zip([0, *cuts], [*cuts, len(keys)], strict=True)]
    assert murmur2(pa.chunked_array(pieces, pa.string()), 7).tolist() == [plain(key.encode(), 7) for key in keys]


def test_a_seed_for_each_key():
    keys, seeds = pa.array(["ab", "cd", "éf"]), np.array([1, 2**31, 3], dtype=np.uint32)
    for group in mix(keys):
        expected = [plain(keys[int(row)].as_py().encode(), int(seeds[row])) for row in group.rows]
        assert group.hash(seeds[group.rows]).tolist() == expected


def test_more_keys_of_one_length_than_fit_a_group():
    keys = [f"{i:06}" for i in range(40_000)]
    result = murmur2(pa.array(keys), 0)
    for row in (0, 16_383, 16_384, 39_999):
        assert result[row] == plain(keys[row].encode(), 0)


@pytest.mark.parametrize("keys", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_no_keys(keys):
    assert len(murmur2(keys, 0)) == 0

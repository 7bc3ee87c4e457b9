"""Bloom filters equal Hudi's own, bit for bit (vectors made by data/BloomVectors.java)."""

import json
import math
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError
from hoodie.formats.bloom import BloomFilter

*VECTORS, GROWN = json.loads((Path(__file__).parent / "data" / "bloom_vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['type']}-{v['count']}")
def test_filters_of_hudi(vector):
    keys = pa.array(vector["keys"], pa.string())
    theirs = BloomFilter.parse(vector["text"], vector["type"], vector["max"])
    assert theirs.contains(keys).all()
    assert theirs.to_base64() == vector["text"]
    if vector["type"] == "DYNAMIC_V0":
        ours = BloomFilter.build(keys, vector["entries"], vector["fpp"], vector["max"])
        assert ours.to_base64() == vector["text"]


def test_a_filter_of_hudis_defaults_that_grew_past_its_maximum():
    keys = pa.array([f"clé-{i}" for i in range(GROWN["count"])])
    bloom = BloomFilter.build(keys, GROWN["entries"], GROWN["fpp"], GROWN["max"])
    assert len(bloom.rows) == 2
    assert zlib.crc32(bloom.to_base64().encode()) == GROWN["crc32"]


def test_parts_of_columns_count_as_their_own_keys():
    keys = pa.array([f"key-{i}" for i in range(300)])
    pieces = pa.chunked_array([keys.slice(0, 7), keys.slice(7, 0), keys.slice(7, 200)], pa.string())
    bloom = BloomFilter.build(pieces, 50, 1e-6, 120)
    assert bloom.to_base64() == BloomFilter.build(keys.slice(0, 207), 50, 1e-6, 120).to_base64()
    expected = np.arange(300) < 207
    assert bloom.contains(keys).tolist() == expected.tolist()
    assert bloom.contains(keys.slice(200, 20)).tolist() == expected[200:220].tolist()


def test_adding_leaves_the_filter_that_it_came_from():
    bloom = BloomFilter.build(pa.array(["a"]), 10, 1e-6, 10)
    text = bloom.to_base64()
    assert bloom.add(pa.array(["b"])).to_base64() != text
    assert bloom.to_base64() == text


def test_a_filter_of_no_keys_holds_nothing():
    bloom = BloomFilter.build(pa.array([], pa.string()), 10, 1e-6, 10)
    assert not bloom.contains(pa.array(["a", ""])).any()
    assert len(bloom.contains(pa.chunked_array([], pa.string()))) == 0


def test_a_simple_filter_is_extended_as_hudi_would():
    vector = next(v for v in VECTORS if v["type"] == "SIMPLE")
    full = BloomFilter.parse(vector["text"], "SIMPLE")
    again = full.add(pa.array(vector["keys"][:5], pa.string()))
    assert again.to_base64() == vector["text"]


@given(st.lists(st.text(max_size=40), min_size=1, max_size=200, unique=True), st.integers(1, 199))
def test_adding_in_two_steps_is_adding_at_once(keys, cut):
    first, second = pa.array(keys[:cut], pa.string()), pa.array(keys[cut:], pa.string())
    at_once = BloomFilter.build(pa.array(keys, pa.string()), 50, 0.01, 120)
    assert BloomFilter.build(first, 50, 0.01, 120).add(second).to_base64() == at_once.to_base64()
    assert at_once.contains(pa.array(keys, pa.string())).all()


def test_strangers_are_mostly_refused():
    bloom = BloomFilter.build(pa.array([f"in-{i}" for i in range(5000)]), 5000, 0.01, 5000)
    false = bloom.contains(pa.array([f"out-{i}" for i in range(20000)])).mean()
    assert false < 0.02


@pytest.mark.parametrize("text", ["", "AAAA", "not base64!", "/////wAAAB4C"])
def test_a_broken_filter_is_named(text):
    with pytest.raises(CorruptFileError, match="bloom filter"):
        BloomFilter.parse(text, "DYNAMIC_V0")


def test_size_follows_entries_and_rate():
    bloom = BloomFilter.build(pa.array(["a"]), 60000, 1e-9, 100000)
    assert (bloom.bits, bloom.hashes) == (0x277D3E, 30)
    assert bloom.bits == math.ceil(60000 * -math.log(1e-9) / math.log(2) ** 2)

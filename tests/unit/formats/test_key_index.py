"""Bloom filters fit the keys of their file, from the first version on and as it grows."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

from hoodie.formats.base_file import BaseFileOptions, BaseFileReader, KeyIndex
from hoodie.formats.bloom import BloomFilter
from hoodie.formats.key_index import KeyIndexBuilder, footer_bytes
from tests.support.clock import FakeClock
from tests.support.tables import batch, create

FITTING = BaseFileOptions()


def keys(start, end):
    return pa.chunked_array([pa.array([f"key-{number}" for number in range(start, end)], pa.string())])


def built(options, new, before=None, kept=None):
    builder = KeyIndexBuilder(options, before)
    if kept is not None:
        builder.keep(kept)
    builder.add(new)
    return builder.build()


@pytest.mark.parametrize(
    ("count", "entries"), [(1, 128), (128, 128), (129, 256), (3000, 4096), (40_000, 60_000), (130_000, 60_000)]
)
def test_a_new_filter_is_sized_by_its_keys(count, entries):
    index = built(FITTING, keys(0, count))
    assert index.bloom.entries == entries
    assert index.bloom.contains(keys(0, count)).all()
    assert not index.bloom.contains(keys(count, count + 1000)).any()
    assert (index.minimum, index.maximum) == (min(keys(0, count).to_pylist()), max(keys(0, count).to_pylist()))
    assert footer_bytes(count, FITTING) <= len(index.bloom.to_base64()) <= 2 * footer_bytes(count, FITTING) + 100


def test_what_is_given_is_the_size():
    index = built(BaseFileOptions(bloom_entries=500), keys(0, 10))
    assert index.bloom.to_base64() == BloomFilter.build(keys(0, 10), 500).to_base64()


def test_keys_that_still_fit_are_added_and_else_the_filter_is_made_anew():
    first = built(FITTING, keys(0, 100))
    assert built(FITTING, keys(100, 128), first, keys(0, 100)).bloom.entries == 128
    grown = built(FITTING, keys(100, 300), first, keys(0, 100))
    assert (grown.bloom.entries, len(grown.bloom.rows)) == (512, 1)
    assert grown.bloom.contains(keys(0, 300)).all()
    assert (grown.minimum, grown.maximum) == ("key-0", "key-99")


@pytest.mark.parametrize("options", [BaseFileOptions(bloom_entries=100, bloom_max_entries=200), FITTING])
def test_the_filter_of_another_writer_grows_as_its_own_would(options):
    """Hudi's of 60,000 keys always; a smaller one where our size is given."""
    entries = options.bloom_entries or 60_000
    theirs = KeyIndex.of(BloomFilter.build(keys(0, 100), entries, 1e-9, 200), keys(0, 100))
    ours = built(options, keys(100, 250), theirs)
    assert ours.bloom.to_base64() == theirs.bloom.add(keys(100, 250)).to_base64()


def test_without_keys_there_is_no_index():
    assert built(FITTING, keys(0, 0)) is None
    assert built(BaseFileOptions(virtual_keys=True), keys(0, 10)) is None
    first = built(FITTING, keys(0, 10))
    assert built(FITTING, keys(0, 0), first, keys(0, 5)) is first


def test_a_file_of_few_rows_is_small_and_its_next_versions_find_their_keys(tmp_path):
    table = create(tmp_path, FakeClock())
    wanted = []
    for start, end in ((0, 2), (2, 150), (150, 1000)):
        wanted += [(f"k{number}", "p", 1, number) for number in range(start, end)]
        table.write(batch(wanted[start:end]), "upsert")
    sizes = []
    for path in sorted(tmp_path.rglob("*.parquet"), key=os.path.getmtime):
        with BaseFileReader(table.storage, str(path.relative_to(tmp_path))) as reader:
            index = reader.key_index()
            assert index.bloom.contains(pa.array([key for key, *_ in wanted[: reader.rows]])).all()
            assert len(index.bloom.rows) == 1
            sizes.append((reader.rows, index.bloom.entries, path.stat().st_size < 10_000 + 40 * reader.rows))
    assert sorted(sizes) == [(2, 128, True), (150, 256, True), (1000, 1024, True)]

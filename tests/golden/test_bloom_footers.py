"""The bloom filters in the footers of Hudi's base files are the ones we would have written, bit for bit."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from hoodie.formats.bloom import BloomFilter
from hoodie.model.meta_columns import RECORD_KEY


@pytest.mark.parametrize("archive", ["12v9", "15v6"])
def test_filters_are_rebuilt_from_the_keys(golden, archive):
    compared = 0
    for path in sorted(golden(archive).glob("*/**/*.parquet")):
        file = pq.ParquetFile(path)
        metadata = file.metadata.metadata or {}
        text = metadata.get(b"org.apache.hudi.bloomfilter", b"").decode()
        if not text or ".hoodie" in path.parts:
            continue
        keys = file.read([RECORD_KEY])[RECORD_KEY]
        theirs = BloomFilter.parse(text, metadata[b"hoodie_bloom_filter_type_code"].decode())
        assert theirs.contains(keys).all(), path
        assert BloomFilter.build(keys, theirs.entries).to_base64() == text, path
        compared += 1
    assert compared > 40

"""XXHash32 over columns of texts: the hashes that Hudi 1.2.0 takes keys by."""

from __future__ import annotations

import pyarrow as pa

from hoodie.formats import xxhash

# Published values of XXH32 with the seed 0, of each way through it: nothing, bytes, words, stripes of 16 bytes.
GOLDEN = {
    "": 0x02CC5D05,
    "a": 0x550D7456,
    "abc": 0x32D153FF,
    "Nobody inspects the spammish repetition": 0xE2293B2F,
}


def test_golden_values(monkeypatch):
    texts = [*GOLDEN, *reversed(GOLDEN)]
    column = pa.chunked_array([pa.array(["before", *texts])[1:], pa.array(["abc"]), pa.array([], pa.string())])
    expected = [GOLDEN[text] for text in texts] + [GOLDEN["abc"]]
    assert xxhash.xxhash32(column).tolist() == expected
    monkeypatch.setattr(xxhash, "_CHUNK", 3)
    monkeypatch.setattr(xxhash, "_BYTES", 1)
    assert xxhash.xxhash32(column).tolist() == expected

"""Search of texts in bytes and in decoded values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.services.purge import text_search
from hoodie.services.purge.text_search import contains, in_bytes, in_values, is_decoded
from hoodie.storage import LocalStorage


def test_a_text_across_two_windows(tmp_path, monkeypatch):
    monkeypatch.setattr(text_search, "_WINDOW", 8)
    storage = LocalStorage(str(tmp_path))
    storage.create("file", b"0123456anna-1bob")
    assert in_bytes(storage, "file", [b"anna-1", b"bob", b"carl"]) == [b"anna-1", b"bob"]


def test_values_of_the_archive_are_decoded(tmp_path):
    storage = LocalStorage(str(tmp_path))
    path = ".hoodie/timeline/history/1_2_0.parquet"
    sink = pa.BufferOutputStream()
    rows = pa.table({"plan": pa.array([b"x" * 1000 + b"anna-1" + b"x" * 1000], pa.binary())})
    pq.write_table(rows, sink, compression="zstd")
    storage.create(path, sink.getvalue().to_pybytes())
    assert is_decoded(path)
    assert not is_decoded("part=p/1_2_0.parquet")
    assert is_decoded(".hoodie/metadata/files/.files-0000-0_0.log.1_0-0-0")
    assert in_values(storage, path, [b"anna-1"])
    assert not in_values(storage, path, [b"bob"])


def test_nested_values():
    rows = pa.table(
        {
            "person": pa.array([{"names": ["anna-1", None]}]),
            "tags": pa.array([[("key", "value-7")]], pa.map_(pa.string(), pa.string())),
            "word": pa.array(["word-8"]).dictionary_encode(),
            "empty": pa.nulls(1),
        }
    )
    assert all(contains(rows, [needle]) for needle in (b"anna-1", b"value-7", b"key", b"word-8"))
    assert not contains(rows, [b"bob"])

"""The bucket of a key, as Hudi 1.2.0 computes it (`BucketIdentifier`), and the file ids that contain it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.formats.java_hash import list_hashes, string_hashes
from hoodie.index.buckets import Buckets, bucket_file_id, bucket_of, values_in
from hoodie.write.placement import new_file_id

COMPOSITE = Buckets(256, ("a", "b"), ("a", "b"))


def java_hash(text):
    units, result = text.encode("utf-16-be", "surrogatepass"), 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8) + low) & 0xFFFFFFFF
    return result


TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=20)


@given(TEXTS)
def test_hashes_of_texts_are_javas(texts):
    assert string_hashes(pa.array(["", *texts], pa.string()).slice(1)).tolist() == list(map(java_hash, texts))


def test_hashes_of_texts_in_chunks():
    texts = [f"key-{number}" * (number % 4) for number in range(70_000)]
    chunks = pa.chunked_array([pa.array(texts[:5]), pa.array(texts[5:])])
    assert string_hashes(chunks).tolist() == list(map(java_hash, texts))
    assert string_hashes(pa.chunked_array([], pa.string())).tolist() == []


KNOWN = ["a", "id-1", "1", "", "ключ", "😀", "a,b", "a:b", "2013-01-01T05:15"]


def test_buckets_of_single_keys():
    keys = pa.chunked_array([list(KNOWN)])
    for count in (256, 7):  # the sign of a hash shows in the second only
        wanted = [((31 + java_hash(key)) & 0x7FFFFFFF) % count for key in KNOWN]
        assert Buckets(count, ("id",), ("id",)).of(keys).tolist() == wanted


@given(st.lists(st.tuples(st.text("xy:,_n", max_size=5), st.text("xy:,_n", max_size=5)), max_size=20))
def test_buckets_of_keys_of_several_columns(pairs):
    """The quick way and the slow one agree, signs of the key's own text in values included."""
    texts = [f"a:{first or '__empty__'},b:{second or '__null__'}" for first, second in pairs]
    wanted = []
    for text in texts:
        parts = [bytes_hash(value) for value in values_in(text, ("a", "b"))]
        wanted.append((list_hash(parts) & 0x7FFFFFFF) % 256)
    assert COMPOSITE.of(pa.chunked_array([texts], pa.string())).tolist() == wanted


def bytes_hash(value):
    return java_hash(value or "")


def list_hash(parts):
    result = 1
    for part in parts:
        result = (31 * result + part) & 0xFFFFFFFF
    return result


@pytest.mark.parametrize(
    ("key", "fields", "values"),
    [
        ("a:1,b:2", ("a", "b"), ["1", "2"]),
        ("a:1,b:2", ("b",), ["2"]),
        ("a:1,b:2", ("c",), ["a:1,b:2"]),
        ("a:1,2,b:3", ("a", "b"), ["1,2", "3"]),
        ("a:x:y,b:3", ("a", "b"), ["x:y", "3"]),
        ("a:__null__,b:__empty__", ("a", "b"), [None, ""]),
    ],
)
def test_values_in_keys(key, fields, values):
    assert values_in(key, fields) == values


def test_some_columns_tell_the_bucket():
    keys = pa.chunked_array([["a:1,b:2", "a:7,b:2", "a:1,b:3"]])
    first, second, third = Buckets(256, ("b",), ("a", "b")).of(keys).tolist()
    assert first == second != third


def test_file_ids_tell_their_bucket():
    made = bucket_file_id(37)
    assert made.startswith("00000037-")
    assert made.endswith("-0")
    assert bucket_of(made) == 37
    assert bucket_of(made.removesuffix("-0")) == 37, "as Hudi's bulk insert leaves it"
    assert bucket_of("12345678-1234-1234-1234-123456789012-0") is None, (
        "one in forty of all file ids begins with digits"
    )
    assert bucket_of(new_file_id()) is None
    assert list_hashes([], 1).tolist() == [1]

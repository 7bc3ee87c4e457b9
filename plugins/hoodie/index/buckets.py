"""Buckets: the file group of a key by a hash of it, as Hudi's BUCKET index with simple hashing has it.

A partition has a fixed number of buckets, each at most one file group, whose file id begins with the number of the bucket in
eight digits.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.java_hash import list_hashes, string_hashes
from hoodie.model.time import Time

_FILE_ID = re.compile(r"(0000\d{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-\d+)?")


def bucket_of(file_id: str) -> int | None:
    """The bucket in a file id; None for one of another index."""
    match = _FILE_ID.fullmatch(file_id)
    return int(match[1]) if match is not None else None


def bucket_file_id(bucket: int) -> str:
    """A fresh file id for a bucket."""
    return f"{bucket:08d}{str(uuid.uuid4())[8:]}-0"


def fixed_file_id(bucket: int, replaced: Time | None = None) -> str:
    """The file id on which all writers of a bucket agree without a look at each other, as Hudi's non-blocking concurrency control
    has it. Readers skip file groups that were `replaced`: then the id holds the instant that replaced it."""
    digits = (replaced or "").zfill(24)
    parts = (digits[:4], digits[4:8], digits[8:12], digits[12:])
    return f"{bucket:08d}-{'-'.join(parts)}-0"


@dataclass(frozen=True)
class Buckets:
    """`count` buckets a partition; the columns `fields`, some of `key_fields`, decide the bucket of a key."""

    count: int
    fields: tuple[str, ...]
    key_fields: tuple[str, ...]

    def of(self, keys: pa.ChunkedArray) -> np.ndarray:
        """int64, the bucket of each record key (utf8, no nulls)."""
        hashes = np.empty(len(keys), dtype=np.uint32)
        for rows, values in hashed_values(keys, self.fields, self.key_fields):
            hashes[rows] = list_hashes([string_hashes(pc.fill_null(value, "")) for value in values], len(rows))
        return (hashes & np.uint32(0x7FFF_FFFF)).astype(np.int64) % self.count

    def numbers(self, places: np.ndarray, keys: pa.ChunkedArray) -> np.ndarray:
        """See `Homes`: buckets of one partition after those of the one before."""
        result: np.ndarray = places * self.count + self.of(keys)
        return result

    def number_of(self, place: int, file_id: str) -> int | None:
        """See `Homes`."""
        bucket = bucket_of(file_id)
        return place * self.count + bucket if bucket is not None else None

    def home(self, number: int) -> tuple[int, str]:
        """See `Homes`: the file id is a fresh one."""
        place, bucket = divmod(number, self.count)
        return place, bucket_file_id(bucket)


@dataclass(frozen=True)
class FixedBuckets:
    """Buckets whose new file groups have fixed file ids.

    `replaced` has the numbers of buckets whose fixed file id was replaced, with the last instant that replaced a group there.
    """

    buckets: Buckets
    replaced: Mapping[int, Time]

    def numbers(self, places: np.ndarray, keys: pa.ChunkedArray) -> np.ndarray:
        """See `Homes`."""
        return self.buckets.numbers(places, keys)

    def number_of(self, place: int, file_id: str) -> int | None:
        """See `Homes`."""
        return self.buckets.number_of(place, file_id)

    def home(self, number: int) -> tuple[int, str]:
        """See `Homes`."""
        place, bucket = divmod(number, self.buckets.count)
        return place, fixed_file_id(bucket, self.replaced.get(number))


class Homes(Protocol):
    """Locations of rows by their keys: file groups have numbers, over all partitions of a write, that begin with 0. A
    partition is given by its place among those. A frozen value, which travels to the workers."""

    def numbers(self, places: np.ndarray, keys: pa.ChunkedArray) -> np.ndarray:
        """int64, the number of the file group of each row: int64 places, record keys (utf8, no nulls)."""
        ...

    def number_of(self, place: int, file_id: str) -> int | None:
        """The number of a file group that is there; None: no key lives in it."""
        ...

    def home(self, number: int) -> tuple[int, str]:
        """The partition's place and the file id of a file group that is to come."""
        ...


def hashed_values(
    keys: pa.ChunkedArray, fields: Sequence[str], key_fields: Sequence[str]
) -> Iterator[tuple[np.ndarray, list[pa.ChunkedArray]]]:
    """The values of the columns `fields`, some of `key_fields`, that Hudi takes out of the texts of record keys (utf8, no nulls):
    positions of rows, and the texts of these rows in as many columns as they have values; null for a null."""
    several = pc.and_(pc.match_substring(keys, ","), pc.match_substring(keys, ":"))
    if not pc.any(several).as_py():
        yield np.arange(len(keys)), [keys]
        return
    plain, several_rows = (np.flatnonzero(mask.to_numpy()) for mask in (pc.invert(several), several))
    yield plain, [keys.take(pa.array(plain))]
    keys = keys.take(pa.array(several_rows))
    # Keys like `a:1,b:2`. In most no value has one of these two signs.
    groups = ",".join(f"{re.escape(name)}:(?P<v{place}>[^:,]*)" for place, name in enumerate(key_fields))
    matches = pc.extract_regex(keys.combine_chunks(), f"^(?s:{groups})$")
    usual = pc.is_valid(matches).to_numpy(zero_copy_only=False)
    values = matches.filter(pa.array(usual))
    chosen = [f"v{place}" for place, name in enumerate(key_fields) if name in fields]
    yield (
        several_rows[usual],
        [pa.chunked_array([_without_names_of_nothing(pc.struct_field(values, name))]) for name in chosen],
    )
    others = np.flatnonzero(~usual)
    for place, key in zip(others.tolist(), keys.take(pa.array(others)).to_pylist(), strict=True):  # few
        texts = [pa.chunked_array([pa.array([text], pa.string())]) for text in values_in(key, fields)]
        yield several_rows[place : place + 1], texts


def values_in(key: str, fields: Sequence[str]) -> list[str | None]:
    """The values of `fields` in the text of a key of several columns, as Hudi 1.2.0 reads it, colons and commas in values
    included; the whole key where it finds none."""
    values: list[str | None] = []
    start = 0
    while start < len(key):
        colon = key.find(":", start)
        if colon < 0:
            break
        after = key.find(":", colon + 1)
        comma = key.rfind(",", 0, after + 1) if after >= 0 else -1
        while comma < colon and after > 0:
            after = key.find(":", after + 1)
            comma = key.rfind(",", 0, after + 1) if after >= 0 else -1
        end = comma if comma > 0 else len(key)
        if key[start:colon] in fields:
            text = key[colon + 1 : end]
            values.append(None if text == "__null__" else "" if text == "__empty__" else text)
        start = end + 1
    return values or [key]


def _without_names_of_nothing(texts: pa.Array) -> pa.Array:
    plain = pc.if_else(pc.equal(texts, "__empty__"), "", texts)
    return pc.if_else(pc.equal(texts, "__null__"), None, plain)

"""Buckets: the file group of a key by a hash of it, as Hudi's BUCKET index with simple hashing has it.

A partition has a fixed number of buckets, each at most one file group, whose file id begins with the number of the bucket in
eight digits.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.formats.java_hash import list_hashes, string_hashes

_FILE_ID = re.compile(r"(0000\d{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-\d+)?")


def bucket_of(file_id: str) -> int | None:
    """The bucket that a file id tells; None for one of another index."""
    found = _FILE_ID.fullmatch(file_id)
    return int(found[1]) if found is not None else None


def bucket_file_id(bucket: int) -> str:
    """A fresh file id for a bucket."""
    return f"{bucket:08d}{str(uuid.uuid4())[8:]}-0"


@dataclass(frozen=True)
class Buckets:
    """`count` buckets a partition; keys are told apart by their columns `fields`, some of `key_fields`."""

    count: int
    fields: tuple[str, ...]
    key_fields: tuple[str, ...]

    def of(self, keys: pa.ChunkedArray) -> np.ndarray:
        """int64, the bucket of each record key (utf8, no nulls)."""
        return (self._hashes(keys) & np.uint32(0x7FFF_FFFF)).astype(np.int64) % self.count

    def _hashes(self, keys: pa.ChunkedArray) -> np.ndarray:
        """uint32 of the list of values that Hudi takes out of the text of a key."""
        if len(keys) == 0:
            return np.zeros(0, dtype=np.uint32)
        several = pc.and_(pc.match_substring(keys, ","), pc.match_substring(keys, ":"))
        if not pc.any(several).as_py():
            return list_hashes([string_hashes(keys)], len(keys))
        result = np.empty(len(keys), dtype=np.uint32)
        plain, made = (np.flatnonzero(mask.to_numpy()) for mask in (pc.invert(several), several))
        result[plain] = list_hashes([string_hashes(keys.take(pa.array(plain)))], len(plain))
        result[made] = self._of_values(keys.take(pa.array(made)))
        return result

    def _of_values(self, keys: pa.ChunkedArray) -> np.ndarray:
        """Of keys like `a:1,b:2`. In most no value has one of these two signs."""
        result = np.empty(len(keys), dtype=np.uint32)
        groups = ",".join(f"{re.escape(name)}:(?P<v{place}>[^:,]*)" for place, name in enumerate(self.key_fields))
        found = pc.extract_regex(keys.combine_chunks(), f"^(?s:{groups})$")
        usual = pc.is_valid(found).to_numpy(zero_copy_only=False)
        values = found.filter(pa.array(usual))
        parts = [
            string_hashes(_without_names_of_nothing(pc.struct_field(values, f"v{place}")))
            for place, name in enumerate(self.key_fields)
            if name in self.fields
        ]
        result[usual] = list_hashes(parts, len(values))
        others = np.flatnonzero(~usual)
        for place, key in zip(others.tolist(), keys.take(pa.array(others)).to_pylist(), strict=True):  # few
            taken = pa.array([text or "" for text in values_in(key, self.fields)], pa.string())
            result[place] = list_hashes([each.reshape(1) for each in string_hashes(taken)], 1)[0]
        return result


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
    """Null and the empty text hash alike."""
    return pc.if_else(pc.is_in(texts, value_set=pa.array(["__null__", "__empty__"])), "", texts)

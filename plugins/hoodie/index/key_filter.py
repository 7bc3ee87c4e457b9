"""The keys that a write looks for, by partition: by them a bloom index leaves files out that cannot hold any.

The driver holds them all, and every task that looks at footers gets them. If there are too many, a partition's files are read as
without such an index: nearly every file has one of many keys anyway.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

MOST_KEYS = 1 << 20  # keys of a write that are held
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class KeysInOrder:
    """Distinct keys. Those of ASCII alone are in order: Java orders texts by UTF-16, Arrow by UTF-8, and they agree on these."""

    ordered: pa.Array
    others: pa.Array

    @staticmethod
    def of(keys: pa.Array) -> KeysInOrder:
        """Those of utf8 keys without nulls."""
        distinct = pc.unique(keys)
        plain = pc.string_is_ascii(distinct)
        ascii_keys = distinct.filter(plain)
        return KeysInOrder(ascii_keys.take(pc.sort_indices(ascii_keys)), distinct.filter(pc.invert(plain)))

    def within(self, low: str, high: str) -> pa.Array:
        """The keys from `low` to `high`, and keys whose order is undefined."""
        if not (low.isascii() and high.isascii()):
            return pa.concat_arrays([self.ordered, self.others])
        places, value = range(len(self.ordered)), self._value
        begin, end = bisect_left(places, low, key=value), bisect_right(places, high, key=value)
        return pa.concat_arrays([self.ordered.slice(begin, max(0, end - begin)), self.others])

    def _value(self, place: int) -> str:
        text: str = self.ordered[place].as_py()
        return text


@dataclass(frozen=True)
class KeyFilter:
    """By partition the distinct keys (utf8); None: too many to be held."""

    of_partition: Mapping[str, pa.Array | None] = field(default_factory=dict)

    @staticmethod
    def of(rows: pa.Table) -> KeyFilter:
        """Those of rows with `_hoodie_record_key` and `_hoodie_partition_path`."""
        names = pc.unique(rows[PARTITION_PATH])
        numbers = pc.index_in(rows[PARTITION_PATH], names).to_numpy()
        keys = rows[RECORD_KEY].take(pa.array(np.argsort(numbers, kind="stable")))
        ends = np.cumsum([0, *np.bincount(numbers)]).tolist()
        slices = zip(names.to_pylist(), ends[:-1], ends[1:], strict=True)  # distinct names: few
        return KeyFilter({name: pc.unique(keys.slice(begin, end - begin)) for name, begin, end in slices})

    @staticmethod
    def union(parts: Sequence[KeyFilter], most: int = MOST_KEYS) -> KeyFilter:
        """All together; none at all where they are more than `most`."""
        gathered: dict[str, list[pa.Array | None]] = {}
        for part in parts:
            for partition, keys in part.of_partition.items():
                gathered.setdefault(partition, []).append(keys)
        result: dict[str, pa.Array | None] = {}
        for partition, pieces in gathered.items():
            key_arrays = [piece for piece in pieces if piece is not None]
            result[partition] = pc.unique(pa.concat_arrays(key_arrays)) if len(key_arrays) == len(pieces) else None
        key_arrays_of_all = [keys for keys in result.values() if keys is not None]
        fits = (
            sum(map(len, key_arrays_of_all)) <= most and sum(keys.nbytes for keys in key_arrays_of_all) <= _MOST_BYTES
        )
        return KeyFilter(result if fits else dict.fromkeys(result))

    def sieve(self, *, anywhere: bool) -> Mapping[str, KeysInOrder | None]:
        """The keys to look for in the files of each partition; `anywhere`: those of all, under the empty name."""
        if not anywhere:
            return {
                name: KeysInOrder.of(keys) if keys is not None else None for name, keys in self.of_partition.items()
            }
        arrays = [keys for keys in self.of_partition.values() if keys is not None]
        return {
            "": KeysInOrder.of(pa.concat_arrays(arrays)) if arrays and len(arrays) == len(self.of_partition) else None
        }

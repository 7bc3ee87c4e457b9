"""The key index of a base file's footer, made while the file is written: its bloom filter fits the keys that the file has."""

from __future__ import annotations

import pyarrow as pa

from hoodie.formats.base_file import BaseFileOptions, KeyIndex
from hoodie.formats.bloom import DYNAMIC, BloomFilter

_FEWEST, _MOST = 128, 60000  # keys that a filter is sized for where the option is not given; 60000 is Hudi's default


class KeyIndexBuilder:
    """Takes the keys (utf8, no nulls) of a file's rows as they are written.

    With the index of the file's version before only the new keys are added to that, as long as they fit: keys that were deleted
    stay in it, which costs a look-up and is not wrong. Memory: `_MOST` keys, or those that are new.
    """

    def __init__(self, options: BaseFileOptions, before: KeyIndex | None = None) -> None:
        self._options = options
        self._index = before
        self._of_before = before is not None
        self._may_outgrow = (
            before is not None
            and options.bloom_entries is None
            and before.bloom.type_code == DYNAMIC
            and before.bloom.entries < _MOST
        )
        self._earlier: list[pa.ChunkedArray] = []
        self._new: list[pa.ChunkedArray] = []
        self._rows = 0  # keys in `_new`

    def keep(self, keys: pa.ChunkedArray) -> None:
        """Keys of rows that the version before has, too."""
        if not self._of_before:
            self.add(keys)
        elif self._may_outgrow:
            self._earlier.append(keys)

    def add(self, keys: pa.ChunkedArray) -> None:
        """Keys of new rows."""
        if self._options.virtual_keys:
            return
        self._new.append(keys)
        self._rows += len(keys)
        if not self._of_before and self._rows >= _MOST:
            self._fold()

    def build(self) -> KeyIndex | None:
        """The index; None when there are no keys, or the table's files have none."""
        if self._options.virtual_keys:
            return None
        if (
            self._may_outgrow
            and self._index is not None
            and self._index.bloom.keys + self._rows > self._index.bloom.entries
        ):
            self._index, self._new = None, [*self._earlier, *self._new]
        self._fold()
        return self._index

    def _fold(self) -> None:
        keys = pa.chunked_array([chunk for column in self._new for chunk in column.chunks], pa.string())
        self._new, self._rows = [], 0
        if not len(keys):
            return
        self._index = _index_of(keys, self._options) if self._index is None else self._index.with_keys(keys)


def footer_bytes(keys: int, options: BaseFileOptions) -> int:
    """Bytes in the footer of a new file for the bloom filter of `keys` keys."""
    if options.virtual_keys or not keys:
        return 0
    empty = BloomFilter.build(
        pa.array([], pa.string()), _entries(keys, options), options.bloom_fpp, options.bloom_max_entries
    )
    return len(empty.to_base64())


def _index_of(keys: pa.ChunkedArray, options: BaseFileOptions) -> KeyIndex:
    entries = _entries(len(keys), options)
    return KeyIndex.of(BloomFilter.build(keys, entries, options.bloom_fpp, options.bloom_max_entries), keys)


def _entries(keys: int, options: BaseFileOptions) -> int:
    """How many keys a new filter is sized for: a power of two leaves room for some more."""
    return options.bloom_entries or min(_MOST, max(_FEWEST, 1 << (keys - 1).bit_length()))

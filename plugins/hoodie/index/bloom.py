"""The BLOOM indexes: files whose footers rule out all incoming keys are not read (`hoodie.index.type=BLOOM`, `GLOBAL_BLOOM`).

Key ranges first, then bloom filters; only in what is left are keys read, as SIMPLE and GLOBAL_SIMPLE read all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader, open_base_file
from hoodie.index.key_filter import KeysInOrder
from hoodie.model.files import FileSlice
from hoodie.storage.base import Storage

_FEW = 4  # a filter is asked for fewer keys than a quarter of the file's: for more, to read these costs less


@dataclass(frozen=True)
class Look:
    """Result of reading the footers of some slices: the places of slices whose base files may hold a wanted key, and how many
    base files their key ranges and their bloom filters left out."""

    sought: frozenset[int] = frozenset()
    by_range: int = 0
    by_filter: int = 0

    @staticmethod
    def union(parts: Sequence[Look]) -> Look:
        """All together."""
        return Look(
            frozenset().union(*(part.sought for part in parts)),
            sum(part.by_range for part in parts),
            sum(part.by_filter for part in parts),
        )


@dataclass(frozen=True)
class FooterLook:
    """Task: a share of slices, with their places -> the result of their footers. `keys`: see `KeyFilter.sieve`."""

    storage: Storage
    keys: Mapping[str, KeysInOrder | None]
    by_range: bool

    def __call__(self, share: Sequence[tuple[int, FileSlice]]) -> Look:
        return Look.union([self._look(number, file_slice) for number, file_slice in share])

    def _look(self, number: int, file_slice: FileSlice) -> Look:
        keys = self.keys[file_slice.partition if file_slice.partition in self.keys else ""]
        if file_slice.base_file is None:
            return Look()
        if keys is None:
            return Look(frozenset((number,)))
        with open_base_file(self.storage, file_slice.base_file) as reader:
            return self._footer(number, reader, keys)

    def _footer(self, number: int, reader: BaseFileReader | BootstrapFileReader, keys: KeysInOrder) -> Look:
        bounds = reader.key_range()
        low, high = bounds if bounds is not None and self.by_range else ("", "\U0010ffff")
        near = keys.within(low, high)
        if not len(near):
            return Look(by_range=1)
        if len(near) * _FEW < reader.rows:
            index = reader.key_index()
            if index is not None and not index.bloom.contains(near).any():
                return Look(by_filter=1)
        return Look(frozenset((number,)))

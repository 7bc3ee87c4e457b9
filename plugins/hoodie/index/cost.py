"""Cost of a write's search for its keys, and an index that would have cost less: a line of the log. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.config.keys import index as keys
from hoodie.display import counted

_WORTH = 8  # file slices from which on another index would make a difference


@dataclass(frozen=True)
class IndexCost:
    """Cost of one write. `seconds` are those from the survey of the input to the last key that was found."""

    index: str
    seconds: float
    slices: int  # in the partitions that the index has to look at
    near: int  # file groups in the partitions of the rows
    read: int  # whose keys were read
    bytes: int  # size of their files
    by_range: int  # base files that the ranges of their keys left out
    by_filter: int  # and their bloom filters
    hit: int  # file groups that had a key of the rows

    def line(self) -> str:
        """In words, with the advice."""
        read = (
            "no stored keys read"
            if not self.read
            else f"keys of {self.read} of {counted(self.slices, 'file slice')} read"
        )
        size = f", whose files have {self.bytes:,} bytes" if self.read else ""
        footers = f"; left out by key range {self.by_range}, by bloom filter {self.by_filter}"
        left_out = footers if self.index in keys.BLOOM_TYPES else ""
        result = f"; {counted(self.hit, 'file group')} had some of the rows" if self.index != keys.BUCKET else ""
        advice = self.advice()
        advised = f". Cheaper: {advice}" if advice is not None else ""
        return f"Index {self.index}: {self.seconds:.2f} s, {read}{size}{left_out}{result}{advised}"

    def advice(self) -> str | None:
        """An index that would have read less; None: no index finds the same, or it makes no difference."""
        if self.slices < _WORTH or self.index == keys.BUCKET:
            return None
        blooms = self.index in keys.BLOOM_TYPES
        if self.index in keys.GLOBAL_TYPES and 2 * self.near <= self.slices:
            other = keys.BLOOM if blooms else keys.SIMPLE
            return f"{other} has {self.near} of these file slices to look at, if keys never change their partition"
        if blooms and 2 * self.read > self.slices:
            other = keys.GLOBAL_SIMPLE if self.index == keys.GLOBAL_BLOOM else keys.SIMPLE
            return f"{other} reads hardly more keys, and no footers before"
        if not blooms and 4 * self.hit <= self.slices:
            other = keys.GLOBAL_BLOOM if self.index == keys.GLOBAL_SIMPLE else keys.BLOOM
            return f"{other} would read the keys of about {self.hit} of them, where bloom filters are in the footers"
        if not blooms and self.index not in keys.GLOBAL_TYPES and 2 * self.hit > self.slices:
            return "BUCKET reads none, for a table that is rewritten with it"
        return None

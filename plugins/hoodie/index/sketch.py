"""A sketch of the incoming keys: which stored keys are worth looking at.

One bit a key, at the low bits of its hash. Stored keys whose bit is not set match nothing and need not be moved to the join;
a few others pass by chance. With 32 bits a key about 3 % do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_BITS_PER_KEY = 32
_MIN_BITS, _MAX_BITS = 16, 27  # powers of two: from 8 KiB to 16 MiB, which every task of the index receives


@dataclass(frozen=True)
class KeySketch:
    """`packed` holds 2**`power` bits (uint8, least significant bit first)."""

    power: int
    packed: np.ndarray

    @staticmethod
    def of(hashes: np.ndarray, power: int) -> KeySketch:
        """The sketch of 32-bit key hashes."""
        bits = np.zeros(1 << power, dtype=bool)
        bits[_low(hashes, power)] = True
        return KeySketch(power, np.packbits(bits, bitorder="little"))

    @staticmethod
    def union(sketches: Iterable[KeySketch], power: int) -> KeySketch:
        """The sketch of all keys together; all have the same power."""
        packed = np.zeros((1 << power) // 8, dtype=np.uint8)
        for sketch in sketches:
            packed |= sketch.packed
        return KeySketch(power, packed)

    def may_hold(self, hashes: np.ndarray) -> np.ndarray:
        """bool per hash: false means certainly absent."""
        places = _low(hashes, self.power)
        bits: np.ndarray = (self.packed[places >> 3] >> (places & 7).astype(np.uint8)) & 1
        return bits.astype(bool)


def sketch_power(rows: int) -> int:
    """The size for about `rows` keys. Past 4 million keys a sketch gets crowded and lets more through, which only costs time."""
    return min(_MAX_BITS, max(_MIN_BITS, int(rows * _BITS_PER_KEY).bit_length()))


def _low(hashes: np.ndarray, power: int) -> np.ndarray:
    places: np.ndarray = (hashes & np.uint32((1 << power) - 1)).astype(np.int64)
    return places

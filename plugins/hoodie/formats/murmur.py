"""MurmurHash2, 32 bit, as Hudi's bloom filters use it: vectorised over Arrow strings (format notes, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

_M = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_CHUNK = 1 << 14  # rows: the arrays of one round stay in the processor's cache


@dataclass(frozen=True)
class MixedKeys:
    """Keys of one length, prepared: everything of the hash that does not depend on the seed is done."""

    rows: np.ndarray  # int64, places of the keys in the column
    length: int  # bytes
    words: np.ndarray  # uint32 [whole words, keys], mixed
    tail: np.ndarray | None  # uint32 [keys], the one to three last bytes, None without any

    def hash(self, seed: np.ndarray | int) -> np.ndarray:
        """uint32 hash of each key; `seed` is one for all keys or one a key."""
        state = np.asarray(seed, dtype=np.uint32) ^ np.uint32(self.length)
        state = np.broadcast_to(state, self.rows.shape).copy()
        for word in self.words:
            np.multiply(state, _M, out=state)
            np.bitwise_xor(state, word, out=state)
        if self.tail is not None:
            np.bitwise_xor(state, self.tail, out=state)
            np.multiply(state, _M, out=state)
        state ^= state >> np.uint32(13)
        np.multiply(state, _M, out=state)
        state ^= state >> np.uint32(15)
        return state


def mix(keys: pa.ChunkedArray | pa.Array) -> Iterator[MixedKeys]:
    """Prepare utf8 keys without nulls, in cache-sized groups of equal length."""
    start = 0
    for chunk in keys.chunks if isinstance(keys, pa.ChunkedArray) else [keys]:
        if len(chunk):
            yield from _mix_chunk(chunk, start)
        start += len(chunk)


def murmur2(keys: pa.ChunkedArray | pa.Array, seed: int) -> np.ndarray:
    """uint32 hash of each utf8 key (no nulls). Stable everywhere: tasks on different machines agree on it."""
    result = np.empty(len(keys), dtype=np.uint32)
    for group in mix(keys):
        result[group.rows] = group.hash(seed)
    return result


def murmur2_twice(keys: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """uint64 of each utf8 key (no nulls): the hash with seed 0 above the one with seed 1."""
    result = np.empty(len(keys), dtype=np.uint64)
    for group in mix(keys):
        high, low = group.hash(0).astype(np.uint64), group.hash(1).astype(np.uint64)
        result[group.rows] = high << np.uint64(32) | low
    return result


def _mix_chunk(chunk: pa.Array, start: int) -> Iterator[MixedKeys]:
    _, offset_buffer, data_buffer = chunk.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1].astype(
        np.int64
    )
    data = np.frombuffer(data_buffer, dtype=np.uint8) if data_buffer is not None else np.zeros(0, dtype=np.uint8)
    lengths = np.diff(offsets)
    if (lengths == lengths[0]).all():
        groups = [(int(lengths[0]), np.arange(len(chunk), dtype=np.int64))]
    else:
        order = np.argsort(lengths, kind="stable")
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        groups = [(int(lengths[places[0]]), places) for places in np.split(order, cuts)]
    for length, places in groups:
        for low in range(0, len(places), _CHUNK):
            part = places[low : low + _CHUNK]
            yield _mix_group(part + start, length, _gather(data, offsets[part], length))


def _gather(data: np.ndarray, begins: np.ndarray, length: int) -> np.ndarray:
    """uint8 [keys, length]: a view where the keys follow one another without gaps, as in a column of one length."""
    if length and len(begins) > 1 and (np.diff(begins) == length).all():
        return data[begins[0] : begins[-1] + length].reshape(-1, length)
    return data[begins[:, None] + np.arange(length)]


def _mix_group(rows: np.ndarray, length: int, text: np.ndarray) -> MixedKeys:
    # Words are little-endian; the tail is big-endian, and its bytes are signed in Java: their signs spread over the hash.
    whole = length // 4
    words = np.ascontiguousarray(np.ascontiguousarray(text[:, : whole * 4]).view("<u4").T).astype(np.uint32, copy=False)
    words = words * _M
    words ^= words >> _R
    words *= _M
    tail = None
    if length % 4:
        signed = text[:, whole * 4 :].astype(np.int8).astype(np.int32).astype(np.uint32)
        tail = np.zeros(len(rows), dtype=np.uint32)
        for place in range(length % 4):
            tail ^= signed[:, place] << np.uint32(8 * (length % 4 - 1 - place))
    return MixedKeys(rows, length, words, tail)

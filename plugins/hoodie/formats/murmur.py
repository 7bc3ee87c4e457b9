"""MurmurHash2, 32 bit, as Hudi's bloom filters use it: vectorised over Arrow strings (format notes, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

_M = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_CHUNK = 1 << 14  # rows: the arrays of one round stay in the processor's cache
_JOINED_BYTES = 1 << 30  # bytes of the chunks of a column that are joined: one array holds less than 2 GiB


@dataclass(frozen=True)
class MixedKeys:
    """Keys of about one length, prepared: everything of the hash that does not depend on the seed is done."""

    rows: np.ndarray  # int64, places of the keys in the column
    lengths: np.ndarray  # uint32 [keys], bytes; the keys with most words come first
    words: np.ndarray  # uint32 [most whole words of a key, keys], mixed
    counts: np.ndarray  # int64 [most whole words of a key], how many keys have that word
    tails: np.ndarray | None  # uint32 [keys], the one to three last bytes, 0 without any; None when no key has any
    factors: np.ndarray  # uint32 [keys], by which the state is multiplied after the tail: 1 without one

    def hash(self, seed: np.ndarray | int) -> np.ndarray:
        """uint32 hash of each key; `seed` is one for all keys or one a key."""
        state: np.ndarray = np.asarray(seed, dtype=np.uint32) ^ self.lengths
        for word, count in zip(self.words, self.counts.tolist(), strict=True):
            hashes = state[:count]
            hashes *= _M
            hashes ^= word[:count]
        if self.tails is not None:
            state ^= self.tails
            state *= self.factors
        state ^= state >> np.uint32(13)
        state *= _M
        state ^= state >> np.uint32(15)
        return state


def mix(keys: pa.ChunkedArray | pa.Array) -> Iterator[MixedKeys]:
    """Prepare utf8 keys without nulls, in cache-sized groups of like length."""
    chunks = keys.chunks if isinstance(keys, pa.ChunkedArray) else [keys]
    if len(chunks) > 1 and len(keys) < _CHUNK * len(chunks) and keys.nbytes < _JOINED_BYTES:
        chunks = [pa.concat_arrays(chunks)]
    start = 0
    for chunk in chunks:
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
    for low in range(0, len(chunk), _CHUNK):
        for places in _alike(lengths[low : low + _CHUNK]):
            rows = low + places
            yield _mix_group(rows + start, offsets[rows], lengths[rows], data)


def _alike(lengths: np.ndarray) -> list[np.ndarray]:
    """The places of keys with about as many words, up to a factor of two, those with most first: the matrix of a group holds
    little more than these keys."""
    words = lengths // 4
    if (words == words[0]).all():
        return [np.arange(len(words))]
    order = np.argsort(-words, kind="stable")
    sizes = np.frexp(words[order].astype(np.float64))[1]
    return np.split(order, np.flatnonzero(np.diff(sizes)) + 1)


def _mix_group(rows: np.ndarray, begins: np.ndarray, lengths: np.ndarray, data: np.ndarray) -> MixedKeys:
    word_counts = lengths // 4
    text = _gather(data, begins, 4 * int(word_counts[0]))  # words are little-endian
    words = np.ascontiguousarray(text.view("<u4").T).astype(np.uint32, copy=False)
    words = words * _M
    words ^= words >> _R
    words *= _M
    counts = np.searchsorted(-word_counts, -np.arange(len(words)), side="left")
    tail_lengths = lengths - 4 * word_counts
    tails = _tails(data, begins + 4 * word_counts, tail_lengths) if tail_lengths.any() else None
    return MixedKeys(
        rows, lengths.astype(np.uint32), words, counts, tails, np.where(tail_lengths > 0, _M, np.uint32(1))
    )


def _tails(data: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """uint32 of up to three bytes each, big-endian. Java's bytes have signs, which spread over the hash."""
    tails = np.zeros(len(begins), dtype=np.uint32)
    for place in range(int(lengths.max())):
        long_enough = lengths > place
        signed = data[begins[long_enough] + place].astype(np.int8).astype(np.int32).astype(np.uint32)
        tails[long_enough] ^= signed << (8 * (lengths[long_enough] - 1 - place)).astype(np.uint32)
    return tails


def _gather(data: np.ndarray, begins: np.ndarray, length: int) -> np.ndarray:
    """uint8 [keys, length], contiguous: the first bytes of each key, and any bytes that follow a shorter one."""
    steps = np.diff(begins)
    if (
        length
        and len(steps)
        and steps[0] >= length
        and (steps == steps[0]).all()
        and begins[-1] + steps[0] <= len(data)
    ):
        return np.ascontiguousarray(data[begins[0] : begins[-1] + steps[0]].reshape(-1, steps[0])[:, :length])
    places = begins[:, None] + np.arange(length)
    return data[np.minimum(places, len(data) - 1)]

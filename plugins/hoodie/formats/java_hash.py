"""Java's `String.hashCode` and `List.hashCode`, vectorised over Arrow strings: they decide the bucket of a key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

_CHUNK = 1 << 16  # rows: the arrays of one round stay small


def string_hashes(texts: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """uint32, the bits of Java's int, of each text (utf8, no nulls)."""
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    parts = [_hashes(some.slice(start, _CHUNK)) for some in chunks for start in range(0, len(some), _CHUNK)]
    return np.concatenate([np.zeros(0, dtype=np.uint32), *parts])


def list_hashes(parts: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """uint32 of each row's list, from the hashes of its first parts, its second ones and so on."""
    result = np.ones(rows, dtype=np.uint32)
    for part in parts:
        result = result * np.uint32(31) + part
    return result


def _hashes(texts: pa.Array) -> np.ndarray:
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(
        np.int64
    )
    data = np.frombuffer(data_buffer or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    bounds, units = offsets - offsets[0], data
    if (data >= 0x80).any():  # Java's texts are UTF-16: two units for what takes four bytes here
        counts = ((data & 0xC0) != 0x80).astype(np.int64) + (data >= 0xF0)
        bounds = np.concatenate([[0], np.cumsum(counts)])[bounds]
        units = np.frombuffer(data.tobytes().decode("utf-8").encode("utf-16-le"), dtype="<u2")
    lengths = np.diff(bounds)
    powers = np.full(int(lengths.max(initial=0)) + 1, 31, dtype=np.uint32)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint32)
    behind = np.repeat(bounds[1:], lengths) - 1 - np.arange(len(units))
    sums = np.concatenate([[np.uint32(0)], np.cumsum(units * powers[behind], dtype=np.uint32)])
    result: np.ndarray = sums[bounds[1:]] - sums[bounds[:-1]]
    return result

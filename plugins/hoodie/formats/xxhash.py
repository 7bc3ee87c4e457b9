"""XXHash32 of texts, vectorised over Arrow strings: it decides the bucket of a key in consistent hashing.

Source: the algorithm's specification (XXH32), and `HashID.getXXHash32` of Hudi, whose seed for keys is 0.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_CHUNK = 1 << 16  # rows, and
_BYTES = 1 << 22  # bytes of texts of one length at a time: the arrays of one round stay small
_P1, _P2, _P3, _P4, _P5 = (np.uint32(prime) for prime in (2654435761, 2246822519, 3266489917, 668265263, 374761393))
_LANES = (606290984, 2246822519, 0, 1640531535)  # lanes of seed 0: p1 + p2, p2, 0, -p1


def xxhash32(texts: pa.ChunkedArray) -> np.ndarray:
    """uint32 of the UTF-8 bytes of each text (utf8, no nulls), with the seed 0."""
    parts = [_hashes(some.slice(start, _CHUNK)) for some in texts.chunks for start in range(0, len(some), _CHUNK)]
    return np.concatenate([np.zeros(0, dtype=np.uint32), *parts])


def _hashes(texts: pa.Array) -> np.ndarray:
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer or b"", dtype=np.uint8)
    starts, lengths = offsets[:-1].astype(np.int64), np.diff(offsets)
    result = np.empty(len(texts), dtype=np.uint32)
    order = np.argsort(lengths, kind="stable")
    of_length, begins = np.unique(lengths[order], return_index=True)
    for length, rows in zip(of_length.tolist(), np.split(order, begins[1:]), strict=True):
        step = max(1, _BYTES // max(1, length))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            result[some] = _of_one_length(data[starts[some][:, None] + np.arange(length)])
    return result


def _of_one_length(texts: np.ndarray) -> np.ndarray:
    """Hashes of the rows of a matrix of bytes."""
    count, length = texts.shape
    words = np.ascontiguousarray(texts[:, : length // 4 * 4]).view("<u4")
    stripes = length // 16
    if stripes:
        lanes = np.tile(np.array(_LANES, dtype=np.uint32), (count, 1))
        for stripe in range(stripes):
            lanes = _turned(lanes + words[:, stripe * 4 : stripe * 4 + 4] * _P2, 13) * _P1
        parts = (_turned(lanes[:, lane], turn) for lane, turn in enumerate((1, 7, 12, 18)))
        hashes: np.ndarray = np.stack(list(parts)).sum(axis=0, dtype=np.uint32)
    else:
        hashes = np.full(count, _P5, dtype=np.uint32)
    hashes = hashes + np.full(count, length, dtype=np.uint32)
    for word in range(stripes * 4, length // 4):
        hashes = _turned(hashes + words[:, word] * _P3, 17) * _P4
    for byte in range(length // 4 * 4, length):
        hashes = _turned(hashes + texts[:, byte].astype(np.uint32) * _P5, 11) * _P1
    hashes = (hashes ^ (hashes >> np.uint32(15))) * _P2
    hashes = (hashes ^ (hashes >> np.uint32(13))) * _P3
    result: np.ndarray = hashes ^ (hashes >> np.uint32(16))
    return result


def _turned(values: np.ndarray, bits: int) -> np.ndarray:
    """To the left."""
    result: np.ndarray = (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))
    return result

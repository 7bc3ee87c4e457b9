"""Space-filling curves: places of rows on a line such that rows near each other there are near in every column. Pure, on numpy.

A row is a point: one unsigned number of `bits` bits a column. Places are compared word by word.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.uint64]

_WORD = 8  # bytes
_SIGN = np.uint64(1 << 63)


def z_order(points: Numbers, bits: int) -> Numbers:
    """Points (row, column) -> their places (row, word): the bits of the columns by turns, the highest first."""
    rows, columns = points.shape
    point_bytes = np.ascontiguousarray(points.astype(">u8")).view(np.uint8).reshape(rows, columns, _WORD)
    planes = np.unpackbits(point_bytes[:, :, _WORD - bits // 8 :], axis=2)
    packed = np.packbits(planes.transpose(0, 2, 1).reshape(rows, columns * bits), axis=1)
    padded = np.zeros((rows, -(-packed.shape[1] // _WORD) * _WORD), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(">u8").astype(np.uint64)


def hilbert(points: Numbers, bits: int) -> Numbers:
    """As `z_order`, along Hilbert's curve, which never jumps (J. Skilling, Programming the Hilbert curve, 2004)."""
    axes = [points[:, column].copy() for column in range(points.shape[1])]
    for bit in range(bits - 1, 0, -1):
        below = np.uint64((1 << bit) - 1)
        for axis in axes:
            is_set = (axis >> np.uint64(bit)) & np.uint64(1)
            chosen = (np.uint64(0) - is_set) & below  # all lower bits of the rows where it is set
            swapped = (axes[0] ^ axis) & (below ^ chosen)
            axes[0] ^= chosen | swapped
            if axis is not axes[0]:
                axis ^= swapped
    for before, axis in pairwise(axes):
        axis ^= before
    turned = np.zeros(points.shape[0], dtype=np.uint64)
    for bit in range(bits - 1, 0, -1):
        is_set = (axes[-1] >> np.uint64(bit)) & np.uint64(1)
        turned ^= (np.uint64(0) - is_set) & np.uint64((1 << bit) - 1)
    return z_order(np.stack([axis ^ turned for axis in axes], axis=1), bits)


def ordered_bits(values: pa.ChunkedArray) -> Numbers:
    """A number of 64 bits for each value: not greater for a lesser value, 0 for null. For texts the first eight bytes count."""
    kind = values.type
    if pa.types.is_boolean(kind) or pa.types.is_unsigned_integer(kind):
        return _numpy(values.cast(pa.uint64())).astype(np.uint64)
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return _of_floats(_numpy(values.cast(pa.float64())), _nulls(values))
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        narrow = kind if pa.types.is_integer(kind) else pa.int32() if kind.bit_width == _WORD * 4 else pa.int64()
        bits = _numpy(values.cast(narrow).cast(pa.int64())).view(np.uint64) ^ _SIGN
        return np.where(_nulls(values), np.uint64(0), bits)
    return _of_texts(values.cast(pa.large_binary()).combine_chunks())


def ranks(values: pa.ChunkedArray, bounds: pa.Array) -> Numbers:
    """How many of the ordered `bounds` are not greater than each value; 0 for null."""
    both = pa.chunked_array([bounds, *values.chunks], values.type)
    order = pc.sort_indices(pa.table({"": both}), [("", "ascending", "at_start")]).to_numpy()
    bits = np.empty(len(order), dtype=np.uint64)
    bits[order] = np.cumsum(order < len(bounds))
    return bits[len(bounds) :]


def _numpy(values: pa.ChunkedArray) -> npt.NDArray[Any]:
    return np.asarray(pc.fill_null(values, pa.scalar(0).cast(values.type)).combine_chunks())


def _nulls(values: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_null(values))


def _of_floats(values: npt.NDArray[np.float64], nulls: npt.NDArray[np.bool_]) -> Numbers:
    numbers = values.view(np.uint64)
    return np.where(nulls, np.uint64(0), np.where(numbers & _SIGN != 0, ~numbers, numbers | _SIGN))


def _of_texts(values: pa.Array) -> Numbers:
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int64)[values.offset : values.offset + len(values) + 1]
    data = values.buffers()[2]
    text_bytes = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.zeros(1, dtype=np.uint8)
    places = offsets[:-1, None] + np.arange(_WORD)
    texts = np.where(places < offsets[1:, None], text_bytes[np.minimum(places, len(text_bytes) - 1)], 0).astype(
        np.uint8
    )
    return np.where(np.asarray(pc.is_null(values)), np.uint64(0), texts.view(">u8")[:, 0].astype(np.uint64))

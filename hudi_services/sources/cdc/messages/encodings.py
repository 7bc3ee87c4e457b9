"""Bytes in base64, numbers in bytes, and geometries, as Arrow arrays: all values at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PAD, _WRONG = 64, 255
_CODES = np.full(256, _WRONG, np.uint8)
_CODES[list(_DIGITS)] = np.arange(64)
_CODES[ord("=")] = _PAD


def from_base64(texts: pa.Array) -> pa.Array:
    """Return the bytes of an array of text. Raises ValueError for a text that is no base64."""
    offsets, content = content_of(texts)
    lengths = np.diff(offsets)
    if len(lengths) and (lengths & 3).any():
        raise ValueError("bytes that are no base64: the length is no multiple of 4")
    codes = _CODES[content]
    ends = offsets[1:][lengths > 0]
    pads = (codes[ends - 1] == _PAD).astype(np.int64)
    pads += (codes[ends - 2] == _PAD) & (pads == 1)
    if (codes == _WRONG).any() or int((codes == _PAD).sum()) != int(pads.sum()):
        raise ValueError("bytes that are no base64")
    quads = codes.reshape(-1, 4).astype(np.uint32) & 63
    joined = quads[:, 0] << 18 | quads[:, 1] << 12 | quads[:, 2] << 6 | quads[:, 3]
    triples = joined.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:]
    result = np.ascontiguousarray(triples).reshape(-1)
    sizes = lengths // 4 * 3
    if pads.any():
        is_data = np.ones(len(result), bool)
        behind = np.cumsum(sizes)[lengths > 0]
        is_data[behind[pads > 0] - 1] = False
        is_data[behind[pads > 1] - 2] = False
        result = result[is_data]
        sizes[lengths > 0] -= pads
    return binary_of(sizes, result, texts)


def content_of(values: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the places at which values of binary or text begin and end (int64, from 0 on), and their bytes. Nulls are empty."""
    if values.null_count:
        values = values.fill_null("" if pa.types.is_string(values.type) else b"")
    _, offsets, data = values.buffers()
    places = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    content = np.frombuffer(data, np.uint8)[places[0] : places[-1]] if data is not None else np.zeros(0, np.uint8)
    return places - places[0], content


def pieces(content: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> pa.Array:
    """Return the pieces of bytes between these places (int64, ascending) as large binary."""
    # Arrow copies values faster than NumPy: every second one of an array of pieces and of what lies between them.
    bounds = np.empty(2 * len(begins), np.int64)
    bounds[0::2], bounds[1::2] = begins, ends
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(content)]
    alternating = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, buffers)
    return alternating.take(pa.array(np.arange(0, len(bounds), 2)))


def binary_of(sizes: np.ndarray, content: np.ndarray, like: pa.Array) -> pa.Array:
    """Return values of these sizes, one after the other in `content`, null where `like` is."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [validity(like), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(content))]
    return pa.Array.from_buffers(pa.binary(), len(sizes), buffers)


def validity(like: pa.Array) -> pa.Buffer | None:
    """Return a bitmap of the values that are not null, None without nulls."""
    if not like.null_count:
        return None
    valid = like.is_valid().to_numpy(zero_copy_only=False)
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def decimals(numbers: pa.Array, precision: int, scale: int) -> pa.Array:
    """Return signed numbers, the highest byte first, as decimals; as text with all digits where `precision` is above 38.

    Raises ValueError for a number with more digits.
    """
    wide = precision > 38
    width = 32 if wide else 16
    kind = pa.decimal256(76, 0) if wide else pa.decimal128(precision, scale)
    little = _little_endian(numbers, width)
    unscaled = pa.Array.from_buffers(kind, len(numbers), [validity(numbers), pa.py_buffer(little)])
    try:
        unscaled.validate(full=True)
    except pa.ArrowInvalid:
        raise ValueError(f"a number that decimal({precision}, {scale}) does not hold") from None
    return digits(unscaled.cast(pa.string()), scale) if wide else unscaled


def _little_endian(numbers: pa.Array, width: int) -> np.ndarray:
    offsets, content = content_of(numbers)
    lengths = np.diff(offsets)
    if len(lengths) and int(lengths.max()) > width:
        raise ValueError(f"a number of {lengths.max()} bytes")
    if numbers.null_count < len(numbers) and int(lengths[numbers.is_valid().to_numpy(zero_copy_only=False)].min()) < 1:
        raise ValueError("a number without a byte")
    values = np.zeros((len(numbers), width), np.uint8)
    non_empty = np.flatnonzero(lengths)
    values[non_empty[content[offsets[non_empty]] >= 0x80]] = 0xFF
    rows = np.repeat(np.arange(len(numbers)), lengths)
    columns = np.repeat(offsets[1:], lengths) - 1 - np.arange(len(content))
    values[rows, columns] = content
    return values


def digits(integers: pa.Array, scale: int) -> pa.Array:
    """Return texts of whole numbers as numbers with `scale` digits behind the point: Arrow would write 1E-30."""
    if scale <= 0:
        return pc.binary_join_element_wise(integers, "0" * -scale, "") if scale else integers
    size = pc.replace_substring_regex(integers, "^-", "")
    signs = pc.if_else(pc.starts_with(integers, "-"), "-", "")
    padded = pc.utf8_lpad(size, scale + 1, "0")
    front = pc.binary_join_element_wise(signs, pc.utf8_slice_codeunits(padded, 0, -scale), "")
    return pc.binary_join_element_wise(front, pc.utf8_slice_codeunits(padded, -scale), ".")


def bit_bytes(values: pa.Array, width: int) -> pa.Array:
    """Return values of `width` bytes, the highest first, of bytes with the lowest first. Raises ValueError for longer ones."""
    little = _padded(values, width)
    return binary_of(np.where(_is_valid(values), width, 0), little[_is_valid(values), ::-1].reshape(-1), values)


def padded_bytes(values: pa.Array, width: int) -> pa.Array:
    """Return values of `width` bytes, with zeros at the end. Raises ValueError for longer ones."""
    filled = _padded(values, width)
    return binary_of(np.where(_is_valid(values), width, 0), filled[_is_valid(values)].reshape(-1), values)


def _is_valid(values: pa.Array) -> np.ndarray:
    valid: np.ndarray = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _padded(values: pa.Array, width: int) -> np.ndarray:
    offsets, content = content_of(values)
    lengths = np.diff(offsets)
    if len(lengths) and int(lengths.max()) > width:
        raise ValueError(f"{lengths.max()} bytes for a column of {width}")
    filled = np.zeros((len(values), width), np.uint8)
    filled[np.repeat(np.arange(len(values)), lengths), np.arange(len(content)) - np.repeat(offsets[:-1], lengths)] = (
        content
    )
    return filled


def scaled_numbers(structs: pa.StructArray) -> pa.Array:
    """Return the texts of structs with the fields `scale` and `value`, a signed number in bytes."""
    unscaled = decimals(pc.struct_field(structs, "value").cast(pa.binary()), 76, 0)
    scales = pc.struct_field(structs, "scale").fill_null(0).to_numpy()
    result = pa.nulls(len(structs), pa.string())
    for scale in np.unique(scales):
        result = pc.if_else(pa.array(scales == scale), digits(unscaled, int(scale)), result)
    return pc.if_else(structs.is_valid(), result, pa.scalar(None, pa.string()))


def geometries(structs: pa.StructArray) -> pa.Array:
    """Return geometries as MySQL stores them: the reference system in four bytes, then the shape in WKB.

    The structs have the fields `wkb` and `srid`, which may be null.
    """
    shapes = pc.struct_field(structs, "wkb").cast(pa.binary())
    systems = np.ascontiguousarray(pc.struct_field(structs, "srid").fill_null(0).to_numpy().astype("<i4"))
    heads = pa.Array.from_buffers(pa.binary(4), len(structs), [None, pa.py_buffer(systems)]).cast(pa.binary())
    return pc.binary_join_element_wise(heads, shapes, b"")

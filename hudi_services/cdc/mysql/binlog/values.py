"""Values of a column in the binlog, as an Arrow array. One function for each kind of type, over all rows at once.

Types (a Hudi table has no unsigned numbers): TINYINT, SMALLINT, MEDIUMINT, INT and YEAR are int32, INT UNSIGNED and BIGINT int64,
BIGINT UNSIGNED decimal(20,0). DECIMAL is a decimal up to 38 digits, and text beyond. BIT(1) is a boolean, longer ones and all
binary types are binary. DATETIME is a timestamp without a zone, TIMESTAMP an instant, TIME text: it may be negative and
longer than a day. ENUM, SET and text of every character set are text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.cdc.mysql.binlog.images import DIGIT_BYTES, decimal_width
from hudi_services.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.cdc.mysql.charsets import UTF8, WIDE, decoded

BINARY_COLLATION = 63
_DECIMAL_DIGITS = 38
_INTEGERS = {Code.TINY: 1, Code.SHORT: 2, Code.INT24: 3, Code.LONG: 4, Code.LONGLONG: 8}
Charsets = Mapping[int, str]
"""Character sets by the server's numbers of collations."""


def column_type(column: LoggedColumn) -> pa.DataType:
    """Return the Arrow type of a column's values. Raises ValueError for types of which there is none."""
    code = column.code
    if code in _INTEGERS or code is Code.YEAR:
        wide = code is Code.LONGLONG or (code is Code.LONG and column.unsigned)
        return (
            (pa.decimal128(20, 0) if column.unsigned and code is Code.LONGLONG else pa.int64()) if wide else pa.int32()
        )
    if code is Code.NEWDECIMAL:
        precision, scale = column.metadata & 0xFF, column.metadata >> 8
        return pa.decimal128(precision, scale) if precision <= _DECIMAL_DIGITS else pa.string()
    if code is Code.BIT:
        return pa.bool_() if column.metadata == 1 else pa.binary()
    simple = {
        Code.FLOAT: pa.float32(),
        Code.DOUBLE: pa.float64(),
        Code.DATE: pa.date32(),
        Code.DATETIME2: pa.timestamp("us"),
        Code.TIMESTAMP2: pa.timestamp("us", "UTC"),
        Code.TIME2: pa.string(),
        Code.ENUM: pa.string(),
        Code.SET: pa.string(),
        Code.GEOMETRY: pa.binary(),
    }
    if code in simple:
        return simple[code]
    if code in (Code.VARCHAR, Code.VAR_STRING, Code.STRING, Code.BLOB):
        return pa.binary() if column.collation == BINARY_COLLATION else pa.string()
    raise ValueError(f"the column {column.name!r} has the type {code.name}, which cannot be read")


def column_values(column: LoggedColumn, raw: np.ndarray | pa.Array, charsets: Charsets) -> pa.Array:
    """Return the values of rows in which the column is not null, in its `column_type`.

    `raw` are bytes of shape (rows, width) for types of a fixed width, an array of binary for others. Zero dates become null.
    Raises ValueError for bytes that are no value of the type.
    """
    if isinstance(raw, pa.Array):
        return _bytes(column, raw, charsets)
    code = column.code
    if code in _INTEGERS:
        return _integers(raw, column.unsigned).cast(column_type(column))
    if code is Code.FLOAT:
        return pa.array(raw.view("<f4")[:, 0])
    if code is Code.DOUBLE:
        return pa.array(raw.view("<f8")[:, 0])
    if code is Code.YEAR:
        years = raw[:, 0].astype(np.int32)
        return pa.array(np.where(years == 0, 0, years + 1900))
    if code is Code.NEWDECIMAL:
        return _decimals(raw, column.metadata & 0xFF, column.metadata >> 8)
    if code is Code.BIT:
        return pa.array(raw[:, -1] == 1) if column.metadata == 1 else _binary(raw)
    if code is Code.DATE:
        packed = _little(raw)
        return dates_of(packed >> 9, packed >> 5 & 15, packed & 31)
    if code is Code.DATETIME2:
        return _datetimes(raw)
    if code is Code.TIMESTAMP2:
        seconds = _big(raw[:, :4])
        micros = seconds * 1_000_000 + _micros(raw[:, 4:])
        return pa.array(micros, mask=micros == 0).cast(pa.timestamp("us", "UTC"))
    if code is Code.TIME2:
        return _times(raw, column.metadata)
    if code is Code.ENUM:
        return _enums(column, raw, charsets)
    if code is Code.SET:
        return _sets(column, raw, charsets)
    raise ValueError(f"the column {column.name!r} has the type {code.name}, which cannot be read")


def _little(raw: np.ndarray) -> np.ndarray:
    """Numbers of any width up to eight bytes, the lowest byte first."""
    padded = np.zeros((len(raw), 8), np.uint8)
    padded[:, : raw.shape[1]] = raw
    return padded.view("<i8")[:, 0]


def _big(raw: np.ndarray) -> np.ndarray:
    return _little(raw[:, ::-1])


def _integers(raw: np.ndarray, unsigned: bool) -> pa.Array:
    width = raw.shape[1]
    values = _little(raw)
    if unsigned:
        return pa.array(values.view(np.uint64) if width == 8 else values)
    shift = 64 - 8 * width
    return pa.array(values << shift >> shift)


def _binary(raw: np.ndarray) -> pa.Array:
    offsets = np.arange(len(raw) + 1, dtype=np.int32) * raw.shape[1]
    return pa.Array.from_buffers(
        pa.binary(), len(raw), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(raw))]
    )


def _decimals(raw: np.ndarray, precision: int, scale: int) -> pa.Array:
    """Packed decimals: groups of nine digits, all bits of negative numbers inverted, the sign in the highest bit."""
    limbs = 4 if precision <= _DECIMAL_DIGITS else 8
    negative = raw[:, 0] & 0x80 == 0
    plain = raw ^ np.where(negative, 0xFF, 0)[:, None].astype(np.uint8)
    plain[:, 0] = plain[:, 0] ^ 0x80
    value = np.zeros((len(raw), limbs), np.uint64)
    place = 0
    whole = precision - scale
    for digits in (whole % 9, *[9] * (whole // 9), *[9] * (scale // 9), scale % 9):
        width = DIGIT_BYTES[digits]
        carry = _big(plain[:, place : place + width]).view(np.uint64) if width else np.zeros(len(raw), np.uint64)
        place += width
        for limb in range(limbs):
            product = value[:, limb] * np.uint64(10**digits) + carry
            value[:, limb] = product & np.uint64(0xFFFFFFFF)
            carry = product >> np.uint64(32)
    assert place == decimal_width(precision, scale)
    if limbs == 8:
        return _digits(value, negative, scale)
    _negate(value, negative)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(raw), [None, _limbs(value)])


def _limbs(value: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(value.astype("<u4")))


def _digits(value: np.ndarray, negative: np.ndarray, scale: int) -> pa.Array:
    """Texts of numbers that are too long for a decimal, with all digits of their scale: Arrow would write 1E-30."""
    whole = pa.Array.from_buffers(pa.decimal256(76, 0), len(value), [None, _limbs(value)]).cast(pa.string())
    padded = pc.utf8_lpad(whole, scale + 1, "0")
    signed = pc.binary_join_element_wise(pa.array(np.where(negative, "-", "")), padded, "")
    if not scale:
        return signed
    return pc.binary_join_element_wise(
        pc.utf8_slice_codeunits(signed, 0, -scale), pc.utf8_slice_codeunits(signed, -scale), "."
    )


def _negate(value: np.ndarray, rows: np.ndarray) -> None:
    """Two's complement of some rows, by limbs of 32 bits."""
    carry = rows.astype(np.uint64)
    mask = np.where(rows, 0xFFFFFFFF, 0).astype(np.uint64)
    for limb in range(value.shape[1]):
        total = (value[:, limb] ^ mask) + carry
        value[:, limb] = total & np.uint64(0xFFFFFFFF)
        carry = total >> np.uint64(32)


def _days(years: np.ndarray, months: np.ndarray, days: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days since 1970, and which of them are no dates: zeros, and days that their month does not have."""
    known = (months >= 1) & (months <= 12) & (years >= 1) & (days >= 1)
    begin = np.where(known, (years - 1970) * 12 + months - 1, 0).astype("M8[M]")
    length = ((begin + 1).astype("M8[D]") - begin.astype("M8[D]")).astype(np.int64)
    return begin.astype("M8[D]").astype(np.int64) + days - 1, ~known | (days > length)


def dates_of(years: np.ndarray, months: np.ndarray, days: np.ndarray) -> pa.Array:
    """Return dates, null for zero dates and for days that their month does not have."""
    numbers, wrong = _days(years, months, days)
    return pa.array(numbers.astype(np.int32), pa.int32(), mask=wrong).cast(pa.date32())


def _micros(raw: np.ndarray) -> np.ndarray:
    """Fractions of seconds: two digits a byte, the highest first."""
    return _big(raw) * 100 ** (3 - raw.shape[1]) if raw.shape[1] else np.zeros(len(raw), np.int64)


def _datetimes(raw: np.ndarray) -> pa.Array:
    packed = _big(raw[:, :5]) - (1 << 39)
    dates, clock = packed >> 17, packed & 0x1FFFF
    days, wrong = _days((dates >> 5) // 13, (dates >> 5) % 13, dates & 31)
    seconds = days * 86_400 + (clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)
    return pa.array(seconds * 1_000_000 + _micros(raw[:, 5:]), mask=wrong).cast(pa.timestamp("us"))


def _times(raw: np.ndarray, digits: int) -> pa.Array:
    """Times as the server prints them, such as `-838:59:59.5`."""
    bits = 8 * (raw.shape[1] - 3)
    packed = _big(raw) - (1 << 23 + bits)
    size = np.abs(packed)
    clock = size >> bits
    texts = [
        pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0") for part in (clock >> 12, clock >> 6 & 63, clock & 63)
    ]
    signs = pa.array(np.where(packed < 0, "-", ""))
    joined = pc.binary_join_element_wise(signs, pc.binary_join_element_wise(*texts, ":"), "")
    if not digits:
        return joined
    fraction = (size & (1 << bits) - 1) * 100 ** (3 - bits // 8)
    text = pc.utf8_lpad(pa.array(fraction).cast(pa.string()), 6, "0")
    return pc.binary_join_element_wise(joined, pc.utf8_slice_codeunits(text, 0, digits), ".")


def _text(value: bytes, column: LoggedColumn, charsets: Charsets) -> str:
    charset = charsets.get(column.collation, "")
    if charset in UTF8 or column.collation == BINARY_COLLATION:
        return value.decode()
    return decoded(value, charset)


def _enums(column: LoggedColumn, raw: np.ndarray, charsets: Charsets) -> pa.Array:
    """Labels, by their numbers from 1. The number 0 is the empty text of a value that the server did not know."""
    labels = pa.array(["", *(_text(label, column, charsets) for label in column.labels)])
    numbers = _little(raw)
    if len(numbers) and numbers.max() >= len(labels):
        raise ValueError(f"the label {numbers.max()} of the column {column.name!r}, which has {len(labels) - 1}")
    return labels.take(pa.array(numbers))


def _sets(column: LoggedColumn, raw: np.ndarray, charsets: Charsets) -> pa.Array:
    labels = [_text(label, column, charsets) for label in column.labels]
    masks, inverse = np.unique(_little(raw).view(np.uint64), return_inverse=True)
    if len(masks) and int(masks.max()) >> len(labels):
        raise ValueError(f"the set {masks.max():#x} of the column {column.name!r}, which has {len(labels)} labels")
    texts = [",".join(label for bit, label in enumerate(labels) if int(mask) >> bit & 1) for mask in masks]
    return pa.array(texts, pa.string()).take(pa.array(inverse))


def _bytes(column: LoggedColumn, raw: pa.Array, charsets: Charsets) -> pa.Array:
    if column.code is Code.GEOMETRY:
        return raw.cast(pa.binary())
    if column.collation == BINARY_COLLATION:
        # The log leaves out the zeros at the end of BINARY(n).
        return (_padded(raw, column.metadata) if column.code is Code.STRING else raw).cast(pa.binary())
    return texts_of(raw, charsets.get(column.collation, ""), column.name)


def texts_of(raw: pa.Array, charset: str, name: str) -> pa.Array:
    """Return an array of binary as text. Raises ValueError for other bytes, with the name of their column."""
    if charset in UTF8:
        try:
            return raw.cast(pa.binary()).cast(pa.string())
        except pa.ArrowInvalid as error:
            raise ValueError(f"bytes of the column {name!r}, which are no text of {charset!r}") from error
    if charset not in WIDE and (plain := _ascii(raw)) is not None:
        return plain
    encoded = raw.dictionary_encode()
    texts = pa.array([decoded(value.as_py(), charset) for value in encoded.dictionary], pa.string())
    return texts.take(encoded.indices)


def _ascii(raw: pa.Array) -> pa.Array | None:
    """The texts if all of them are ASCII, which is the same in most character sets."""
    try:
        texts = raw.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return texts if pc.all(pc.string_is_ascii(texts), min_count=0).as_py() else None


def _padded(raw: pa.Array, length: int) -> pa.Array:
    missing = pc.subtract(pa.scalar(length, pa.int64()), pc.binary_length(raw))
    zeros = pc.binary_repeat(pa.repeat(pa.scalar(b"\0", raw.type), len(raw)), missing)
    return pc.binary_join_element_wise(raw, zeros, pa.scalar(b"", raw.type))

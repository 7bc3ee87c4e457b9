"""Packed decimals of the binlog, as Arrow arrays, over all rows at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.binlog.images import DIGIT_BYTES, decimal_width
from hudi_services.sources.cdc.mysql.binlog.integers import big

DECIMAL_DIGITS = 38
"""Digits of the longest decimal. Longer ones are text."""


def decimals_of(raw: np.ndarray, precision: int, scale: int) -> pa.Array:
    """Return packed decimals: groups of nine digits, all bits of negative numbers inverted, the sign in the highest bit.

    They are text from 39 digits on.
    """
    limbs = 4 if precision <= DECIMAL_DIGITS else 8
    negative = raw[:, 0] & 0x80 == 0
    plain = raw ^ np.where(negative, 0xFF, 0)[:, None].astype(np.uint8)
    plain[:, 0] = plain[:, 0] ^ 0x80
    value = np.zeros((len(raw), limbs), np.uint64)
    place = 0
    integer_digits = precision - scale
    for digits in (integer_digits % 9, *[9] * (integer_digits // 9), *[9] * (scale // 9), scale % 9):
        width = DIGIT_BYTES[digits]
        carry = big(plain[:, place : place + width]).view(np.uint64) if width else np.zeros(len(raw), np.uint64)
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
    integers = pa.Array.from_buffers(pa.decimal256(76, 0), len(value), [None, _limbs(value)]).cast(pa.string())
    padded = pc.utf8_lpad(integers, scale + 1, "0")
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

"""Values of an older file in the type that their column has now, as Hudi changes them: floating point numbers by their digits."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DECIMAL = re.compile(r"decimal[a-z_]*\((\d+), *(\d+)\)")
_LONG_DIGITS = 19


def promoted(array: pa.Array, kind: str) -> pa.Array:
    """The values in the type that Hudi calls `kind`, where Arrow's own cast would give others. Raises ArrowInvalid."""
    digits = _DECIMAL.match(kind)
    if digits is not None:
        decimal = pa.decimal128(int(digits[1]), int(digits[2]))
        if pa.types.is_integer(array.type):
            return pc.cast(pc.cast(array, pa.decimal128(_LONG_DIGITS, 0)), decimal)
        return pc.cast(_double(array), decimal) if pa.types.is_floating(array.type) else array
    if kind == "double" and array.type == pa.float32():
        return _double(array)
    if kind == "string" and pa.types.is_floating(array.type):
        coded = array.dictionary_encode()
        texts = [java_text(value, single=array.type == pa.float32()) for value in coded.dictionary.to_numpy()]
        return pa.DictionaryArray.from_arrays(coded.indices, pa.array(texts, pa.string())).dictionary_decode()
    return array


def _double(array: pa.Array) -> pa.Array:
    """1.1 of four bytes is 1.1 of eight, not 1.10000002384185791."""
    return pc.cast(pc.cast(array, pa.string()), pa.float64()) if array.type == pa.float32() else array


def java_text(value: float, *, single: bool) -> str:
    """A number as Java's `Float.toString` (`single`) or `Double.toString` writes it."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    size = abs(value)
    if math.isinf(size):
        return f"{sign}Infinity"
    number = np.float32(size) if single else np.float64(size)
    if size == 0 or 1e-3 <= size < 1e7:
        return sign + np.format_float_positional(number, unique=True, trim="0")
    digits, _, exponent = np.format_float_scientific(number, unique=True, trim="0", exp_digits=1).partition("e")
    return f"{sign}{digits}E{int(exponent)}"

"""The text that Java's `Double.toString` and `Float.toString` give, which is what Hudi puts into keys and paths.

Arrow prints the shortest digits that read back to the same number, as Java does from release 19 on. Earlier releases print other
digits for some numbers, so their text depends on the Java of the table's writer. Compared with Java 17 on ten million numbers of
all magnitudes, the differences are:
- great numbers, from 10^16 on (float: 10^7): 1e23 is `9.999999999999999E22` in Java 17 and `1.0E23` in Java 21;
- powers of two below 2^-23: 2^-44 has the 16 digits `5.684341886080802E-14`, in Java 17 it is `5.6843418860808015E-14`;
- subnormal numbers, which have too few bits for one answer: the least double is `4.9E-324`, not 5e-324.
These are refused; everything else is the same text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError

_SMALL = 2.0**-20
_PARTS = r"^(?P<sign>-?)(?P<whole>[0-9]+)\.?(?P<fraction>[0-9]*)(?:e\+?(?P<exponent>-?[0-9]+))?$"


def float_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Each float32 or float64 as Java prints it, null for null.

    Raises RecordKeyError for numbers that releases of Java print differently.
    """
    refused = unstable(column)
    count = pc.sum(refused).as_py() or 0
    if count:
        example = pc.filter(column, refused)[0].as_py()
        raise RecordKeyError(
            f"Column {name!r} cannot be part of a record key or partition path",
            found=f"{count} numbers such as {example!r}, which releases of Java print differently",
            fix="use a decimal column, or cast it to a string before the write",
        )
    text = pc.cast(column, pa.string())
    size, finite = pc.abs(column), pc.is_finite(column)
    # Java: plain digits from 0.001 up to 10^7, `d.dddEn` outside.
    plain = pc.or_(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), pc.equal(size, 0))
    result = pc.if_else(plain, _with_fraction(text), text)
    scientific = pc.and_(finite, pc.invert(plain))
    if pc.any(scientific).as_py():
        result = pc.if_else(scientific, _scientific(text), result)
    for arrow_text, javas in (("nan", "NaN"), ("inf", "Infinity"), ("-inf", "-Infinity")):
        result = pc.if_else(pc.equal(text, arrow_text), javas, result)
    return result


def unstable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Boolean, true for a number that releases of Java print differently."""
    double = pa.types.is_float64(column.type)
    limit, least = (1e16, np.finfo(np.float64).tiny) if double else (1e7, np.finfo(np.float32).tiny)
    size = pc.abs(column)
    small = pc.and_(pc.greater(size, 0), pc.less(size, _SMALL))
    doubtful = pc.and_(small, pc.or_(pc.less(size, float(least)), _is_power_of_two(column, double=double)))
    return pc.and_(pc.is_finite(column), pc.or_(pc.greater_equal(size, limit), doubtful))


def _is_power_of_two(column: pa.ChunkedArray, *, double: bool) -> pa.ChunkedArray:
    """True where the fraction bits are all zero."""
    bits, fraction = (pa.int64(), 2**52 - 1) if double else (pa.int32(), 2**23 - 1)
    raw = pa.chunked_array([chunk.view(bits) for chunk in column.chunks], bits)
    return pc.equal(pc.bit_wise_and(raw, pa.scalar(fraction, bits)), 0)


def _with_fraction(text: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.match_substring(text, "."), text, pc.binary_join_element_wise(text, ".0", ""))


def _scientific(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """`-12345678.5` and `1.25e-7` as `-1.23456785E7` and `1.25E-7`; null for what is not a number."""
    parts = pc.extract_regex(text, _PARTS)
    sign, integer, fraction, exponent = (
        pc.struct_field(parts, part) for part in ("sign", "whole", "fraction", "exponent")
    )
    digits = pc.binary_join_element_wise(integer, fraction, "")
    significant = pc.utf8_ltrim(digits, "0")
    leading = pc.subtract(pc.utf8_length(digits), pc.utf8_length(significant))
    shift = pc.cast(pc.if_else(pc.equal(exponent, ""), "0", exponent), pa.int32())
    power = pc.add(shift, pc.subtract(pc.subtract(pc.utf8_length(integer), 1), leading))
    significant = pc.utf8_rtrim(significant, "0")
    decimals = pc.utf8_slice_codeunits(significant, 1)
    decimals = pc.if_else(pc.equal(decimals, ""), "0", decimals)
    first = pc.utf8_slice_codeunits(significant, 0, 1)
    return pc.binary_join_element_wise(sign, first, ".", decimals, "E", pc.cast(power, pa.string()), "")

"""Numbers in CSV files: as they are written there, and the types that hold them."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.model import Csv

DIGITS = 38
"""The most digits of a decimal."""
_SCALE = 2  # digits after the point that a guessed decimal has at least: what costs 10.5 today costs 10.55 tomorrow
_PLAIN = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$"
_CODE = r"^\s*(?:\+|-?0[0-9xX])"
_EXPONENT = r"^\s*[0-9]+[eE][0-9]+\s*$"
_WHOLE = r"^\s*-?[0-9]+\s*$"
_LIMIT = 2**63
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_POINTS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+")
_COMMAS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def are_codes(texts: pa.ChunkedArray) -> bool:
    """True if some texts look like numbers that would be written differently: 007 is not 7, 0x10 not 16, +49 not 49, and 1E5 not
    100000 alone or beside whole numbers."""
    return bool(pc.any(pc.match_substring_regex(texts, _CODE)).as_py()) or first_exponent(texts) is not None


def are_exponents(texts: pa.ChunkedArray) -> bool:
    """True if all texts are such as 1E5."""
    return bool(pc.all(pc.match_substring_regex(texts, _EXPONENT)).as_py())


def first_exponent(texts: pa.ChunkedArray) -> str | None:
    """The first text such as 1E5, if all others are such or whole numbers: programs write a point or a sign into the exponents of
    numbers, as in 1.0E5 and 1e+05."""
    texts = texts.drop_null()
    is_exponent = pc.match_substring_regex(texts, _EXPONENT)
    if not pc.any(is_exponent).as_py():
        return None
    if not pc.all(pc.or_(is_exponent, pc.match_substring_regex(texts, _WHOLE))).as_py():
        return None
    return str(texts.filter(is_exponent)[0].as_py()).strip()


def is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def readable(texts: pa.ChunkedArray, kind: pa.DataType, csv: Csv) -> pa.ChunkedArray:
    """Texts of a column of `kind`, which is no text, as Arrow reads them: no spaces around them, numbers with a point.

    A number with a point that the declaration does not allow as a mark gets a note, so that it is refused: 1.500 may mean 1500.
    """
    texts = pc.utf8_trim_whitespace(texts)
    if not is_number(kind):
        return texts
    if csv.thousands_mark is not None:
        mark, point = (f"[{sign}]" for sign in (csv.thousands_mark, csv.decimal_mark))
        grouped = pc.match_substring_regex(texts, f"^[+-]?[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:{point}[0-9]+)?$")
        texts = pc.if_else(grouped, pc.replace_substring(texts, csv.thousands_mark, ""), texts)
    if csv.decimal_mark != ".":
        foreign = pc.match_substring(texts, ".")
        noted = pc.binary_join_element_wise(texts, pa.scalar(f"(its decimal mark is {csv.decimal_mark})"), " ")
        texts = pc.if_else(foreign, noted, pc.replace_substring(texts, csv.decimal_mark, "."))
    if not pa.types.is_integer(kind):
        return texts
    hexadecimal = pc.match_substring_regex(texts, "^-?0[xX]")  # which Arrow takes for numbers
    texts = pc.if_else(hexadecimal, pc.binary_join_element_wise(texts, "(in hexadecimal)", " "), texts)
    return pc.replace_substring_regex(texts, r"^\+([0-9])", r"\1")


def marks(text: str, csv: Csv) -> str | None:
    """The key of `source` that makes a number of a text with commas, such as 1,5; None if the text is no such number, or the
    marks are declared."""
    text = text.strip()
    if csv.decimal_mark != "." or csv.thousands_mark is not None:
        return None
    if _POINTS.fullmatch(text):
        return '`csv: {decimal_mark: ",", thousands_mark: "."}`'
    keys = [('decimal_mark: ","', _COMMA), ('thousands_mark: ","', _COMMAS)]
    fitting = [f"`csv: {{{key}}}`" for key, form in keys if form.fullmatch(text)]
    return " or ".join(fitting) or None


def exact_type(texts: pa.ChunkedArray) -> pa.DataType | None:
    """The narrowest type of whole numbers or decimals that holds readable `texts`; None where one is no such number.

    Such are exponents, nan, infinities, and numbers of more than 38 digits.
    """
    texts = texts.drop_null()
    if not len(texts) or not pc.all(pc.match_substring_regex(texts, _PLAIN)).as_py():
        return None
    digits = pc.utf8_ltrim(texts, characters="+-")
    point = pc.find_substring(digits, ".")
    has_point = pc.greater_equal(point, 0)
    length = pc.utf8_length(digits)
    scale = pc.max(pc.if_else(has_point, pc.subtract(pc.subtract(length, point), 1), 0)).as_py()
    integers = pc.utf8_ltrim(pc.replace_substring_regex(digits, r"\..*$", ""), characters="0")
    before = pc.max(pc.utf8_length(integers)).as_py()
    if not pc.any(has_point).as_py() and (before < 19 or _fits_64_bits(texts)):
        return pa.int64()
    if before + scale > DIGITS:
        return None
    return pa.decimal128(max(before + scale, 1), scale)


def roomy(kind: pa.DataType) -> pa.DataType:
    """The type that a table gets for a guessed decimal: with room for the values of tomorrow's files."""
    if not pa.types.is_decimal(kind):
        return kind
    scale = max(kind.scale, _SCALE) if kind.scale else 0
    return pa.decimal128(DIGITS, scale if kind.precision - kind.scale + scale <= DIGITS else kind.scale)


def _fits_64_bits(texts: pa.ChunkedArray) -> bool:
    try:
        pc.cast(pc.utf8_ltrim(texts, characters="+"), pa.int64())
    except pa.ArrowInvalid:
        return False
    return True

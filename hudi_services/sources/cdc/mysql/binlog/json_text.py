"""JSON in MySQL's binary form, as the text that the server prints.

The form: json_binary.h of MySQL 8.0. Objects and arrays have counts, sizes and offsets of two bytes (small) or four (large). The
keys of an object are in the order of their lengths, then of their bytes, and are printed so. The text: wrapper_to_string in
json_dom.cc of MySQL 8.0.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from hudi_services.sources.cdc.mysql.binlog.decimals import decimals_of
from hudi_services.sources.cdc.mysql.binlog.images import decimal_width

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = range(5)
_DOUBLE, _STRING, _OPAQUE = 0x0B, 0x0C, 0x0F
_INTEGERS = {5: (2, True), 6: (2, False), 7: (4, True), 8: (4, False), 9: (8, True), 10: (8, False)}
"""Bytes of an integer, and whether it has a sign."""
_LITERALS = ("null", "true", "false")
_TIMESTAMP, _DATE, _TIME, _DATETIME, _DECIMAL, _VAR_STRING = 7, 10, 11, 12, 246, 253
_DEPTH = 100  # the server's limit
_F_FORMAT = 15  # the server writes digits and zeros up to this exponent
_BASE64_LINE = 76
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def json_text(data: bytes) -> str:
    """Return the text of a document. Raises ValueError for bytes that do not make one."""
    return _value(data[0], data, 1, 0) if data else "null"


def _value(kind: int, data: bytes, place: int, depth: int) -> str:
    if kind <= _LARGE_ARRAY:
        if depth == _DEPTH:
            raise ValueError(f"a JSON document that is deeper than {_DEPTH}")
        large = kind in (_LARGE_OBJECT, _LARGE_ARRAY)
        if kind in (_SMALL_OBJECT, _LARGE_OBJECT):
            return f"{{{', '.join(_members(data, place, large, depth + 1))}}}"
        return f"[{', '.join(_elements(data, place, large, depth + 1))}]"
    if kind in _INTEGERS:
        width, signed = _INTEGERS[kind]
        return str(int.from_bytes(_taken(data, place, width), "little", signed=signed))
    if kind == _STRING:
        return _quoted(_sized(data, place).decode())
    if kind == _LITERAL and (literal := _taken(data, place, 1)[0]) < len(_LITERALS):
        return _LITERALS[literal]
    if kind == _DOUBLE:
        return _double(struct.unpack("<d", _taken(data, place, 8))[0])
    if kind == _OPAQUE:
        return _opaque(_taken(data, place, 1)[0], _sized(data, place + 1))
    raise ValueError(f"a JSON value of the kind {kind}, which is unknown here")


def _members(data: bytes, place: int, large: bool, depth: int) -> Iterator[str]:
    width = 4 if large else 2
    count = _number(data, place, width)
    entry = place + 2 * width
    values = _values(data, place, entry + count * (width + 2), large, depth)
    for text in values:
        key = _taken(data, place + _number(data, entry, width), _number(data, entry + width, 2))
        yield f"{_quoted(key.decode())}: {text}"
        entry += width + 2


def _elements(data: bytes, place: int, large: bool, depth: int) -> Iterator[str]:
    return _values(data, place, place + 2 * (4 if large else 2), large, depth)


def _values(data: bytes, place: int, entry: int, large: bool, depth: int) -> Iterator[str]:
    """The values of a container at `place`. From `entry` on, each has its kind, and a short value or the offset of a long one."""
    width = 4 if large else 2
    for _ in range(_number(data, place, width)):
        kind = _taken(data, entry, 1)[0]
        inline = kind == _LITERAL or (kind in _INTEGERS and _INTEGERS[kind][0] <= width)
        yield _value(kind, data, entry + 1 if inline else place + _number(data, entry + 1, width), depth)
        entry += 1 + width


def _taken(data: bytes, place: int, count: int) -> bytes:
    part = data[place : place + count]
    if len(part) != count:
        raise ValueError(f"a JSON document of {len(data)} bytes that is cut off")
    return part


def _number(data: bytes, place: int, width: int) -> int:
    return int.from_bytes(_taken(data, place, width), "little")


def _sized(data: bytes, place: int) -> bytes:
    """Bytes after their length, of which each byte has seven bits, the lowest first."""
    size = shift = 0
    while True:
        byte = _taken(data, place, 1)[0]
        size |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return _taken(data, place, size)


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _double(value: float) -> str:
    """The shortest digits that mean the number, as my_gcvt of the server writes them."""
    if not math.isfinite(value):
        raise ValueError(f"a JSON number that is {value}")
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent) if value else 1
    minus = "-" if sign else ""
    if not (-_F_FORMAT < point <= _F_FORMAT or _F_FORMAT < point < len(text)):
        return f"{minus}{text[0]}{'.' if len(text) > 1 else ''}{text[1:]}e{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    return f"{minus}{text[:point]:0<{point}}.{text[point:] or '0'}"


def _opaque(kind: int, data: bytes) -> str:
    """A value of another type of the server, by the number of the type."""
    if kind == _DECIMAL:
        return _decimal(data)
    if kind in (_TIMESTAMP, _DATE, _TIME, _DATETIME):
        return f'"{_time(kind, int.from_bytes(_taken(data, 0, 8), "little", signed=True))}"'
    if kind == _VAR_STRING:
        return _quoted(data.decode())
    encoded = base64.b64encode(data).decode()
    lines = [encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE)]
    return _quoted(f"base64:type{kind}:" + "\n".join(lines))


def _decimal(data: bytes) -> str:
    precision, scale = _taken(data, 0, 2)
    raw = np.frombuffer(_taken(data, 2, decimal_width(precision, scale)), np.uint8).reshape(1, -1)
    [value] = decimals_of(raw, precision, scale).to_pylist()
    return value if isinstance(value, str) else f"{value:f}"


def _time(kind: int, packed: int) -> str:
    size = abs(packed) if kind == _TIME else packed
    time_bits, micros = size >> 24, size & 0xFFFFFF
    clock = f"{time_bits >> 12 & (0x3FF if kind == _TIME else 31):02}:{time_bits >> 6 & 63:02}:{time_bits & 63:02}.{micros:06}"
    if kind == _TIME:
        return f"{'-' if packed < 0 else ''}{clock}"
    months, day = time_bits >> 22, time_bits >> 17 & 31
    date = f"{months // 13:04}-{months % 13:02}-{day:02}"
    return date if kind == _DATE else f"{date} {clock}"

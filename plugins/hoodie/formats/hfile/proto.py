"""As much of protobuf's wire format as the two messages of an HFile need."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.formats.varint import encode_varint, read_varint

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def encode_field(number: int, value: int | bytes) -> bytes:
    """A field with its tag; a negative number is the two's complement of 64 bits."""
    if isinstance(value, bytes):
        return encode_varint(number << 3 | _BYTES) + encode_varint(len(value)) + value
    return encode_varint(number << 3 | _VARINT) + encode_varint(value & 0xFFFFFFFFFFFFFFFF)


def read_delimited(data: bytes, place: int) -> bytes:
    """The message behind its length. Raises ValueError or IndexError when it is cut off."""
    length, place = read_varint(data, place)
    if place + length > len(data):
        raise ValueError("a message is cut off")
    return data[place : place + length]


def read_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order. Raises ValueError or IndexError when it is damaged."""
    place = 0
    while place < len(message):
        tag, place = read_varint(message, place)
        kind = tag & 7
        if kind == _VARINT:
            value: int | bytes
            value, place = read_varint(message, place)
        elif kind == _BYTES:
            value = read_delimited(message, place)
            place = read_varint(message, place)[1] + len(value)
        elif kind in (_FIXED64, _FIXED32):
            width = 8 if kind == _FIXED64 else 4
            value, place = message[place : place + width], place + width
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        yield tag >> 3, value

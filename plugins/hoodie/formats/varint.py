"""Whole numbers of seven bits a byte, the lowest first, as protobuf and Avro write them."""

from __future__ import annotations


def encode_varint(value: int) -> bytes:
    """A number that is not negative."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_zigzag(value: int) -> bytes:
    """A number with a sign, as Avro's `int` and `long` are."""
    return encode_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """The number at `place` and the place behind it. Raises ValueError or IndexError."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("a number has more than 10 bytes")

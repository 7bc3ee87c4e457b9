"""Documents in MySQL's binary form of JSON, as the server serialises them (json_binary.cc): no MySQL server runs in the tests."""

from __future__ import annotations

import struct

_KINDS = ((5, 2, True), (6, 2, False), (7, 4, True), (8, 4, False), (9, 8, True), (10, 8, False))


def encoded(value, large=False):
    """The bytes of a document. `large`: all objects and arrays have offsets of four bytes."""
    kind, data = _value(value, large)
    return bytes([kind]) + data


def opaque(kind, data):
    """The bytes of a value of another type of the server."""
    return bytes([15, kind]) + _length(len(data)) + data


def _value(value, large):
    if value is None or isinstance(value, bool):
        return 4, bytes([0 if value is None else 1 if value else 2])
    if isinstance(value, int):
        signed = value < 2**63
        kind, width = next(
            (k, w) for k, w, s in _KINDS if s == signed and -(2 ** (8 * w - 1)) <= value < 2 ** (8 * w - s)
        )
        return kind, value.to_bytes(width, "little", signed=signed)
    if isinstance(value, float):
        return 11, struct.pack("<d", value)
    if isinstance(value, str):
        return 12, _length(len(value.encode())) + value.encode()
    if isinstance(value, list):
        return (3 if large else 2), _container([], value, large)
    keys = sorted((key.encode() for key in value), key=lambda key: (len(key), key))
    return (1 if large else 0), _container(keys, [value[key.decode()] for key in keys], large)


def _container(keys, values, large):
    width = 4 if large else 2
    place = 2 * width + len(keys) * (width + 2) + len(values) * (width + 1)
    entries, tail = b"", b""
    for key in keys:
        entries += (place + len(tail)).to_bytes(width, "little") + len(key).to_bytes(2, "little")
        tail += key
    for value in values:
        kind, data = _value(value, large)
        entries += bytes([kind])
        if kind == 4 or (5 <= kind <= 8 and len(data) <= width):
            entries += (
                data.ljust(width, b"\0")
                if kind == 4
                else int.from_bytes(data, "little", signed=kind % 2 == 1).to_bytes(
                    width, "little", signed=kind % 2 == 1
                )
            )
        else:
            entries += (place + len(tail)).to_bytes(width, "little")
            tail += data
    return len(values).to_bytes(width, "little") + (place + len(tail)).to_bytes(width, "little") + entries + tail


def _length(size):
    data = b""
    while size >= 0x80:
        data += bytes([size & 0x7F | 0x80])
        size >>= 7
    return data + bytes([size])

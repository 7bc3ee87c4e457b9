"""Types that the log has as bytes alone, as only the catalog of MariaDB names them: UUID, INET4 and INET6, as text."""

from __future__ import annotations

import ipaddress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

WIDTHS = {"uuid": 16, "inet4": 4, "inet6": 16}
"""Bytes of a value."""
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_DASHES = (8, 13, 18, 23)
_DIGITS = [place for place in range(36) if place not in _DASHES]
_WORDS, _MAPPED = 8, 0xFFFF


def printed_values(kind: str, raw: pa.Array) -> pa.Array:
    """Return values as the server prints them. `raw` are values of one of the `WIDTHS`, with all their bytes."""
    width = WIDTHS[kind]
    data = np.frombuffer(b"".join(raw.to_pylist()), np.uint8).reshape(len(raw), width)
    if kind == "uuid":
        return _uuids(data)
    if kind == "inet4":
        parts = [pa.array(data[:, place]).cast(pa.string()) for place in range(width)]
        return pc.binary_join_element_wise(*parts, ".")
    encoded = raw.dictionary_encode()
    return pa.array([_inet6(value.as_py()) for value in encoded.dictionary], pa.string()).take(encoded.indices)


def _uuids(data: np.ndarray) -> pa.Array:
    texts = np.full((len(data), 36), ord("-"), np.uint8)
    texts[:, _DIGITS[::2]] = _HEX[data >> 4]
    texts[:, _DIGITS[1::2]] = _HEX[data & 15]
    offsets = np.arange(len(data) + 1, dtype=np.int32) * 36
    return pa.Array.from_buffers(pa.string(), len(data), [None, pa.py_buffer(offsets), pa.py_buffer(texts)])


def _inet6(value: bytes) -> str:
    """An address as MariaDB prints it: it also leaves out a single word of zeros, which RFC 5952 keeps."""
    words = [int.from_bytes(value[place : place + 2], "big") for place in range(0, 16, 2)]
    gap, length = _zeros(words)
    if gap == 0 and (length == 6 or (length == 5 and words[5] == _MAPPED)):
        return f"::{'ffff:' if length == 5 else ''}{ipaddress.IPv4Address(value[12:])}"
    texts = [f"{word:x}" for word in words]
    if not length:
        return ":".join(texts)
    return f"{':'.join(texts[:gap])}::{':'.join(texts[gap + length :])}"


def _zeros(words: list[int]) -> tuple[int, int]:
    """The first of the longest runs of zeros, and its length."""
    best = (0, 0)
    place = 0
    while place < _WORDS:
        end = place
        while end < _WORDS and not words[end]:
            end += 1
        if end - place > best[1]:
            best = (place, end - place)
        place = end + 1
    return best

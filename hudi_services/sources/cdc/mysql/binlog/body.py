"""Numbers and texts in the bodies of binlog events: little-endian, lengths before texts."""

from __future__ import annotations

from dataclasses import dataclass

_LENGTHS = {0xFC: 2, 0xFD: 3, 0xFE: 8}
"""Bytes of a packed integer after its first byte. Below 251 the first byte is the number."""


@dataclass
class Body:
    """Bytes that are read from `place` on."""

    data: bytes
    place: int = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.place

    def take(self, count: int) -> bytes:
        """Return the next bytes. Raises ValueError where they are cut off."""
        if self.left < count:
            raise ValueError(f"{count} bytes at {self.place} of an event with {len(self.data)}")
        part = self.data[self.place : self.place + count]
        self.place += count
        return part

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")

    def packed(self) -> int:
        """Return an integer of one to nine bytes."""
        first = self.number(1)
        return self.number(_LENGTHS[first]) if first in _LENGTHS else first

    def tailed(self) -> int:
        """Return an integer of one to nine bytes in the form of newer events: its lowest bits say how many bytes follow."""
        first = self.number(1)
        more = (~first & (first + 1)).bit_length() - 1
        return (first | self.number(more) << 8) >> (more + 1 if more < 8 else 8)

    def text(self, length: int) -> str:
        """Return a name, which the server sends in UTF-8."""
        return self.take(length).decode("utf-8", "surrogateescape")

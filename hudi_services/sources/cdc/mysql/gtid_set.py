"""Sets of transactions of MySQL (GTIDs), such as `3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7`, by origin and number.

The origin is a server. From MySQL 8.3 on it may have a tag, such as `3e11fa47-71ca-11e1-9e33-c80aa9429562:backup`, with numbers
of its own.
"""

from __future__ import annotations

import re
import uuid
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from hudi_services.sources.cdc.mysql.binlog.body import Body

_TAGGED = 1  # in the highest byte of the number of origins: each has a tag, which may be empty
_SERVER_BYTES = 16
_RANGE = re.compile(r"([1-9]\d*)(?:-([1-9]\d*))?")
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_SERVER = re.compile(r"[0-9a-f-]{36}")
_VERSION = 1  # a tagged event has its fields in this form
_FLAGS, _UUID, _NUMBER, _TAG_FIELD = range(4)


@dataclass
class GtidSet:
    """Transactions as ranges of numbers for each origin, both ends inclusive, in order and apart from each other."""

    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __contains__(self, transaction: tuple[str, int]) -> bool:
        origin, number = transaction
        ranges = self.ranges.get(origin, [])
        place = bisect_right(ranges, (number, float("inf"))) - 1
        return place >= 0 and ranges[place][0] <= number <= ranges[place][1]

    def __le__(self, other: GtidSet) -> bool:
        """Return True where `other` has all of these."""
        return all(
            any(low <= first and last <= high for low, high in other.ranges.get(origin, ()))
            for origin, ranges in self.ranges.items()
            for first, last in ranges
        )

    def __str__(self) -> str:
        """The set in the form of the server, without line breaks: `SERVER:1-5:backup:1-2,SERVER2:7`."""
        servers: dict[str, list[str]] = {}
        for origin, ranges in sorted(self.ranges.items()):
            server, _, tag = origin.partition(":")
            if ranges:
                servers.setdefault(server, [server]).extend([*([tag] if tag else []), *_texts(ranges)])
        return ",".join(":".join(parts) for parts in servers.values())

    def add(self, origin: str, first: int, last: int | None = None) -> None:
        """Add the numbers from `first` to `last`, only `first` without it."""
        last = first if last is None else last
        ranges = self.ranges.setdefault(origin, [])
        if ranges and first == ranges[-1][1] + 1:  # the usual one: the next transaction of an origin
            ranges[-1] = (ranges[-1][0], last)
            return
        ranges.append((first, last))
        ranges.sort()
        joined: list[tuple[int, int]] = []
        for low, high in ranges:
            if joined and low <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        self.ranges[origin] = joined

    def copy(self) -> GtidSet:
        return GtidSet({origin: list(ranges) for origin, ranges in self.ranges.items()})


def gtid_set(text: str) -> GtidSet | None:
    """Read the form of the server, in which a tag is before its numbers: `SERVER:1-5:7:backup:1-2`. None for another text."""
    result = GtidSet()
    for part in filter(None, (part.strip().lower() for part in text.split(","))):
        server, *items = part.split(":")
        if not _SERVER.fullmatch(server) or not items or not _RANGE.fullmatch(items[-1]):
            return None
        origin = server
        for item in items:
            if (numbers := _RANGE.fullmatch(item)) is not None:
                result.add(origin, int(numbers[1]), int(numbers[2] or numbers[1]))
            elif _TAG.fullmatch(item):
                origin = f"{server}:{item}"
            else:
                return None
    return result


def previous_transactions(body: bytes) -> GtidSet:
    """Read a PREVIOUS_GTIDS event: all transactions of the files before. Raises ValueError for bytes that are cut off."""
    data = Body(body)
    origins = data.number(8)
    tagged = origins >> 56 == _TAGGED
    result = GtidSet()
    for _ in range((origins >> 8) & 0xFFFF_FFFF_FFFF if tagged else origins):
        server = str(uuid.UUID(bytes=data.take(_SERVER_BYTES)))
        origin = _origin(server, data.text(data.tailed()) if tagged else "")
        for _ in range(data.number(8)):
            first, end = data.number(8), data.number(8)
            result.add(origin, first, end - 1)
    return result


def logged_transaction(body: bytes) -> tuple[str, int]:
    """Read a GTID event, which begins a transaction. Raises ValueError for bytes that are cut off."""
    data = Body(body)
    data.take(1)  # flags
    return str(uuid.UUID(bytes=data.take(_SERVER_BYTES))), data.number(8)


def tagged_transaction(body: bytes) -> tuple[str, int]:
    """Read a GTID event with a tag. Raises ValueError for bytes that are cut off, and for fields of another form.

    It has fields with their numbers, in order. Those after the tag do not say which transaction it is.
    """
    data = Body(body)
    if (version := data.tailed()) != _VERSION:
        raise ValueError(f"a transaction with a tag in the form {version}")
    data.tailed()  # size
    data.tailed()  # the last field that a reader has to know
    server, number = "", 0
    while (kind := data.tailed()) != _TAG_FIELD:
        if kind == _FLAGS:
            data.tailed()
        elif kind == _UUID:
            server = str(uuid.UUID(bytes=bytes(data.tailed() for _ in range(_SERVER_BYTES))))
        elif kind == _NUMBER:
            number = data.tailed() >> 1  # the lowest bit is the sign
        else:
            raise ValueError(f"a transaction with the field {kind} in place of its tag")
    if not server or not number:
        raise ValueError("a transaction with a tag, and without its server or number")
    return _origin(server, data.text(data.tailed())), number


def _origin(server: str, tag: str) -> str:
    return f"{server}:{tag}" if tag else server


def _texts(ranges: list[tuple[int, int]]) -> Iterator[str]:
    for first, last in ranges:
        yield f"{first}" if first == last else f"{first}-{last}"

"""Sets of transactions of MySQL (GTIDs), such as `3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7`, by server and number."""

from __future__ import annotations

import re
import uuid
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from hudi_services.sources.cdc.mysql.binlog.body import Body

_TAGGED = 1  # in the highest byte of the number of servers: a set with tags, in another form
_SERVER_BYTES = 16
_PART = re.compile(r"[0-9a-fA-F-]{36}(:[1-9]\d*(-[1-9]\d*)?)+")


@dataclass
class GtidSet:
    """Transactions as ranges of numbers for each server, both ends inclusive, in order and apart from each other."""

    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __contains__(self, transaction: tuple[str, int]) -> bool:
        server, number = transaction
        ranges = self.ranges.get(server, [])
        place = bisect_right(ranges, (number, float("inf"))) - 1
        return place >= 0 and ranges[place][0] <= number <= ranges[place][1]

    def __le__(self, other: GtidSet) -> bool:
        """Return True where `other` has all of these."""
        return all(
            any(low <= first and last <= high for low, high in other.ranges.get(server, ()))
            for server, ranges in self.ranges.items()
            for first, last in ranges
        )

    def __str__(self) -> str:
        """The set in the form of the server, without line breaks."""
        return ",".join(
            f"{server}:{':'.join(_texts(ranges))}" for server, ranges in sorted(self.ranges.items()) if ranges
        )

    def add(self, server: str, first: int, last: int | None = None) -> None:
        """Add the numbers from `first` to `last`, only `first` without it."""
        last = first if last is None else last
        ranges = self.ranges.setdefault(server, [])
        if ranges and first == ranges[-1][1] + 1:  # the usual one: the next transaction of a server
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
        self.ranges[server] = joined

    def copy(self) -> GtidSet:
        return GtidSet({server: list(ranges) for server, ranges in self.ranges.items()})


def gtid_set(text: str) -> GtidSet | None:
    """Read the form of the server. None for another text, and for sets with tags (MySQL 8.3 and later)."""
    found = GtidSet()
    for part in filter(None, (part.strip() for part in text.split(","))):
        if not _PART.fullmatch(part):
            return None
        server, *ranges = part.split(":")
        for one in ranges:
            first, _, last = one.partition("-")
            found.add(server.lower(), int(first), int(last or first))
    return found


def previous_transactions(body: bytes) -> GtidSet | None:
    """Read a PREVIOUS_GTIDS event: all transactions of the files before. None for a set with tags.

    Raises ValueError for bytes that are cut off.
    """
    data = Body(body)
    servers = data.number(8)
    if servers >> 56 == _TAGGED:
        return None
    found = GtidSet()
    for _ in range(servers):
        server = str(uuid.UUID(bytes=data.take(_SERVER_BYTES)))
        for _ in range(data.number(8)):
            first, end = data.number(8), data.number(8)
            found.add(server, first, end - 1)
    return found


def logged_transaction(body: bytes) -> tuple[str, int]:
    """Read a GTID event, which begins a transaction. Raises ValueError for bytes that are cut off."""
    data = Body(body)
    data.take(1)  # flags
    return str(uuid.UUID(bytes=data.take(_SERVER_BYTES))), data.number(8)


def _texts(ranges: list[tuple[int, int]]) -> Iterator[str]:
    for first, last in ranges:
        yield f"{first}" if first == last else f"{first}-{last}"

"""Messages of Debezium about a table `orders` of `id` and `name`, for topics."""

from __future__ import annotations

import json
from typing import Any

from tests.support.messages import change, envelope, enveloped, field, struct

ID, NAME = field("id", "int32", optional=False), field("name", "string")
_ENVELOPE, _KEY = envelope([ID, NAME]), struct([ID])
Row = tuple[int, str | None]


def _values(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else {"id": row[0], "name": row[1]}


def order(op: str, before: Row | None, after: Row | None, table: str = "orders") -> tuple[bytes, bytes]:
    """A message: its key and its value."""
    row = after if after is not None else before
    key = enveloped(_KEY, {"id": row[0] if row is not None else None})
    return key, enveloped(_ENVELOPE, change(op, _values(before), _values(after), table))


def insert(number: int, name: str | None = "new", table: str = "orders") -> tuple[bytes, bytes]:
    return order("c", None, (number, name), table)


def update(number: int, name: str, old: str = "new", table: str = "orders") -> tuple[bytes, bytes]:
    return order("u", (number, old), (number, name), table)


def delete(number: int, table: str = "orders") -> tuple[bytes, bytes]:
    return order("d", (number, "new"), None, table)


def tombstone(number: int) -> tuple[bytes, None]:
    """The key of a deleted row without a value, by which compaction removes its messages."""
    return json.dumps({"schema": _KEY, "payload": {"id": number}}).encode(), None


def truncate(table: str = "orders") -> tuple[bytes, bytes]:
    return b"", enveloped(_ENVELOPE, change("t", None, None, table))

"""Messages of change data as tables, as a broker would give them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from hudi_services.sources.cdc.messages.messages import MESSAGES, Decoded


def messages(values: Sequence[bytes | None], keys: Sequence[bytes | None] | None = None) -> pa.Table:
    """Return messages with these values, in one partition."""
    count = len(values)
    columns = [
        pa.array([0] * count, pa.int32()),
        pa.array(range(count), pa.int64()),
        pa.nulls(count, pa.timestamp("ms", "UTC")),
        pa.array(keys if keys is not None else [None] * count, pa.binary()),
        pa.array(values, pa.binary()),
    ]
    return pa.table(columns, schema=MESSAGES)


def rows(decoded: Decoded) -> list[tuple[str, int, Any, Any]]:
    """Return the changes as tuples of operation, number, row before, row after."""
    return [tuple(change.values()) for change in decoded.changes.to_pylist()]


def check_all_counted(decoded: Decoded, count: int) -> None:
    """Fail if a message is neither a change nor named or counted, or is both."""
    changed = set(decoded.changes["number"].to_pylist())
    rejected = {rejected.number for rejected in decoded.rejected}
    stated = {statement.number for statement in decoded.statements}
    assert len(changed | rejected | stated) == len(changed) + len(rejected) + len(stated)
    assert len(changed | rejected | stated) + sum(decoded.ignored.values()) == count


def field(name: str, kind: str, named: str = "", optional: bool = True, **parameters: Any) -> dict[str, Any]:
    """Return a field of a Connect schema."""
    written: dict[str, Any] = {"field": name, "type": kind, "optional": optional}
    if named:
        written |= {"name": named, "version": 1}
    return written | ({"parameters": parameters} if parameters else {})


def struct(fields: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return the Connect schema of a struct."""
    return {"type": "struct", "fields": list(fields), "optional": True, **more}


SOURCE = [field(name, "string") for name in ("version", "connector", "name", "db", "table", "query")]


def envelope(columns: Sequence[dict[str, Any]], connector: str = "mysql") -> dict[str, Any]:
    """Return the schema of Debezium's envelope of a table with these columns."""
    source = struct(SOURCE, field="source", name=f"io.debezium.connector.{connector}.Source")
    images = [struct(columns, field=image, name="shop.orders.Value") for image in ("before", "after")]
    return struct([*images, source, field("op", "string"), field("ts_ms", "int64")], name="shop.orders.Envelope")


def change(
    op: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, table: str = "orders"
) -> dict[str, Any]:
    """Return the payload of Debezium's envelope."""
    source = {"version": "3.6.3.Final", "connector": "mysql", "name": "lake", "db": "shop", "table": table}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1700000000000}


def enveloped(schema: Mapping[str, Any] | None, payload: Any) -> bytes:
    """Return a message of Connect's JSON converter."""
    return json.dumps({"schema": schema, "payload": payload}, separators=(",", ":"), ensure_ascii=False).encode()

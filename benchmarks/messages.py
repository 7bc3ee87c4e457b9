"""Messages of change data to Arrow, on one core: python -m benchmarks.messages COUNT.

Makes COUNT messages of each format, of a table with ten columns, half of them inserts and half updates with the row before, and
prints the messages and megabytes that are decoded in a second of processor time: the median of 15 runs after one, and the best of
them. Programs of other machines on the same host slow a run down, and never speed it up.
"""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa

from benchmarks.usage import run
from hudi_services.sources.cdc.messages.messages import MESSAGES, MessageFormat, message_format

_RUNS = 15
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_COLUMNS = {
    "id": ("int64", ""),
    "name": ("string", ""),
    "email": ("string", ""),
    "amount": ("bytes", _DECIMAL),
    "quantity": ("int32", ""),
    "created": ("int64", "io.debezium.time.MicroTimestamp"),
    "updated": ("string", "io.debezium.time.ZonedTimestamp"),
    "day": ("int32", "io.debezium.time.Date"),
    "score": ("double", ""),
    "note": ("string", ""),
}
_TYPES = {
    "id": "bigint(20)",
    "name": "varchar(100)",
    "email": "varchar(100)",
    "amount": "decimal(10,2)",
    "quantity": "int(11)",
    "created": "datetime(6)",
    "updated": "timestamp(6)",
    "day": "date",
    "score": "double",
    "note": "text",
}
_DIGITS = {"scale": "2", "connect.decimal.precision": "10"}
_SOURCE = {
    "version": "3.6.3.Final",
    "connector": "mysql",
    "name": "lake",
    "snapshot": "false",
    "db": "shop",
    "sequence": None,
    "table": "orders",
    "gtid": None,
    "file": "mysql-bin.000003",
    "query": None,
    "ts_ms": 1700000000000,
    "ts_us": 1700000000000000,
    "ts_ns": 1700000000000000000,
    "server_id": 1,
    "pos": 12345,
    "row": 0,
    "thread": 7,
}
_KNOWN = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("email", pa.string()),
        ("amount", pa.decimal128(10, 2)),
        ("quantity", pa.int32()),
        ("created", pa.timestamp("us")),
        ("updated", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
        ("score", pa.float64()),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True)
class Case:
    """A format with the values of its messages, and the columns that the target is known to have."""

    name: str
    format: MessageFormat
    values: list[bytes]
    target_columns: pa.Schema | None = None


class _Registry:
    """A registry with one schema."""

    def schema(self, number: int) -> str | None:
        return json.dumps(_AVRO)


def _row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"customer {number}",
        "email": f"customer{number}@example.com",
        "amount": "AfQ=",
        "quantity": number % 100,
        "created": 1700000000000000 + number,
        "updated": "2024-01-01T00:00:00.123456Z",
        "day": 19000 + number % 1000,
        "score": number * 0.37,
        "note": "a text that is a bit longer",
    }


def _printed(number: int) -> dict[str, Any]:
    """The row with dates and times as MySQL prints them."""
    times = {"created": "2023-11-14 22:13:20.000001", "updated": "2024-01-01 00:00:00.123456", "day": "2022-01-08"}
    return {**_row(number), **times, "amount": 5.00}


def _times(number: int) -> dict[str, int]:
    microseconds = 1700000000000000 + number * 100
    return {"ts_ms": microseconds // 1000, "ts_us": microseconds, "ts_ns": microseconds * 1000}


def _payload(number: int) -> dict[str, Any]:
    row = _row(number)
    updated = number % 2 == 0
    return {
        "before": row if updated else None,
        "after": row,
        "source": _SOURCE | _times(number) | {"pos": 4 + number * 380, "row": number % 3},
        "transaction": None,
        "op": "u" if updated else "c",
        **_times(number + 123),
    }


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _schema() -> dict[str, Any]:
    columns = [
        {"field": name, "type": kind, "optional": name != "id"}
        | ({"name": meaning, "version": 1} if meaning else {})
        | ({"parameters": _DIGITS} if meaning == _DECIMAL else {})
        for name, (kind, meaning) in _COLUMNS.items()
    ]
    images = [
        {"type": "struct", "fields": columns, "optional": True, "name": "lake.shop.orders.Value", "field": image}
        for image in ("before", "after")
    ]
    source = [{"field": name, "type": "string" if isinstance(x, str) else "int64"} for name, x in _SOURCE.items()]
    name = "io.debezium.connector.mysql.Source"
    return {
        "type": "struct",
        "fields": [
            *images,
            {"type": "struct", "fields": source, "optional": False, "name": name, "field": "source"},
            {"type": "string", "optional": False, "field": "op"},
        ],
        "optional": False,
        "name": "lake.shop.orders.Envelope",
    }


def _avro_type(kind: str, meaning: str) -> Any:
    avro = {"int32": "int", "int64": "long"}.get(kind, kind)
    if not meaning:
        return avro
    digits = {"logicalType": "decimal", "scale": 2, "precision": 10, "connect.parameters": _DIGITS}
    return {"type": avro, "connect.name": meaning, **(digits if meaning == _DECIMAL else {})}


_VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": name, "type": ["null", _avro_type(*kind)]} for name, kind in _COLUMNS.items()],
}
_AVRO = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", _VALUE]},
        {"name": "after", "type": ["null", "Value"]},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "fields": [
                    {"name": name, "type": ["null", "long" if isinstance(value, int) else "string"]}
                    for name, value in _SOURCE.items()
                ],
            },
        },
        {"name": "transaction", "type": ["null", "string"]},
        {"name": "op", "type": "string"},
        *({"name": name, "type": ["null", "long"]} for name in ("ts_ms", "ts_us", "ts_ns")),
    ],
}


def _avro_messages(count: int) -> Iterator[bytes]:
    schema = fastavro.parse_schema(_AVRO)
    for number in range(count):
        payload = _payload(number)
        for image in ("before", "after"):
            if payload[image] is not None:
                payload[image] = {**payload[image], "amount": Decimal("5.00")}
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, payload)
        yield b"\0\0\0\0\1" + out.getvalue()


def _maxwell(number: int) -> dict[str, Any]:
    kind = {"type": "update", "old": {"note": "an old text"}} if number % 2 == 0 else {"type": "insert"}
    head = {"database": "shop", "table": "orders", "ts": 1700000000, "xid": number, "commit": True}
    return {**head, "data": _printed(number), **kind}


def _canal(number: int) -> dict[str, Any]:
    kind = {"type": "UPDATE", "old": [{"note": "an old text"}]} if number % 2 == 0 else {"type": "INSERT", "old": None}
    data = {name: str(value) for name, value in _printed(number).items()}
    head = {"database": "shop", "table": "orders", "isDdl": False, "mysqlType": _TYPES, "pkNames": ["id"], "sql": ""}
    return {"data": [data], **head, **kind}


def _cases(count: int) -> Iterator[Case]:
    start = b'{"schema":' + _text(_schema()) + b',"payload":'
    payloads = [_text(_payload(number)) for number in range(count)]
    yield Case(
        "debezium-json, with schemas", message_format("debezium-json"), [start + text + b"}" for text in payloads]
    )
    bare = message_format("debezium-json", decimals="bytes", timestamps="us")
    yield Case("debezium-json, without", bare, payloads, _KNOWN)
    yield Case("debezium-avro", message_format("debezium-avro", registry=_Registry()), list(_avro_messages(count)))
    maxwell = message_format("maxwell-json", zone="UTC")
    yield Case("maxwell-json", maxwell, [_text(_maxwell(number)) for number in range(count)], _KNOWN)
    canal = message_format("canal-json", zone="UTC")
    yield Case("canal-json", canal, [_text(_canal(number)) for number in range(count)], _KNOWN)
    rows = [_text(_printed(number)) for number in range(count)]
    yield Case("json", message_format("json", zone="UTC"), rows, _KNOWN)


def _table(values: list[bytes]) -> pa.Table:
    count = len(values)
    return pa.table(
        [
            pa.array([0] * count, pa.int32()),
            pa.array(range(count), pa.int64()),
            pa.nulls(count, pa.timestamp("ms", "UTC")),
            pa.nulls(count, pa.binary()),
            pa.array(values, pa.binary()),
        ],
        schema=MESSAGES,
    )


def main(count: str) -> None:
    pa.set_cpu_count(1)
    print(f"{'format':30}{'messages/s':>12}{'at best':>12}{'MB/s':>8}{'bytes each':>12}")
    for case in _cases(int(count)):
        messages = _table(case.values)
        size = messages["value"].nbytes
        seconds = []
        for _ in range(1 + _RUNS):
            start = time.process_time()
            decoded = case.format.decode(messages, case.target_columns)
            seconds.append(time.process_time() - start)
            assert decoded.changes.num_rows == int(count), (case.name, decoded.rejected[:3])
        typical, best = (int(count) / taken for taken in (statistics.median(seconds[1:]), min(seconds[1:])))
        rates = f"{typical:12,.0f}{best:12,.0f}{size / int(count) * typical / 1e6:8,.0f}"
        print(f"{case.name:30}{rates}{size // int(count):12,}")


if __name__ == "__main__":
    run(main, __doc__)

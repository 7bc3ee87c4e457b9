"""Rows of a query for people and for programs."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hoodie.display import printable
from hoodie.errors import SqlError
from hoodie.sql import Result
from hoodie.sql.result import python_rows
from hudi_services.runtime.json_values import is_number
from hudi_services.runtime.terminal import echo, echo_lines, line_width
from hudi_services.runtime.text_table import TextColumn, table_lines, vertical_lines

_ROWS = 1_000
"""Rows that are printed for people."""


def print_json(result: Result) -> None:
    """Print one JSON object a row. Raises SqlError for two columns with one name, as an object has each name once."""
    schema = result.table.schema
    doubled = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if doubled is not None:
        raise SqlError(
            f"Two columns of the query have one name: {doubled:.100}",
            found=", ".join(schema.names)[:500],
            fix="give each its own name by AS; a JSON object has each name once",
        )
    for row in result:
        values = (plain(value, kind) for value, kind in zip(row, schema.types, strict=True))
        echo(json.dumps(dict(zip(schema.names, values, strict=True)), ensure_ascii=False))


def plain(value: Any, kind: pa.DataType) -> Any:
    """A value of this type as JSON has it: maps and structs as objects, times as text in ISO 8601, bytes in base64. Decimals
    are numbers if no digit is lost, otherwise text, and so are numbers that JSON does not have."""
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(item, kind.field(name).type) for name, item in value.items()}
    if isinstance(value, list):
        if pa.types.is_map(kind):
            return {_name(key, kind.key_type): plain(item, kind.item_type) for key, item in value}
        return [plain(item, kind.value_type) for item in value]
    return value


def _name(key: Any, kind: pa.DataType) -> str:
    """The key of a map as the name in an object."""
    shown = str(key) if isinstance(key, Decimal) else plain(key, kind)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def word(value: Any, kind: pa.DataType) -> str:
    """A value of this type for people: arrays, maps and structs as JSON, bytes as hexadecimal digits."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return json.dumps(plain(value, kind), ensure_ascii=False) if pa.types.is_nested(kind) else str(value)


def print_table(result: Result, *, vertical: bool = False, wide: bool = False) -> None:
    """The first rows in columns, and how many there are. Rows that are wider than the terminal go down the page, unless they may
    be `wide`, and with `vertical` all do."""
    schema, width = result.table.schema, None if wide else line_width()
    columns = [TextColumn(printable(field.name, cell=True), is_number(field.type), rank=0) for field in schema]
    rows = [
        [printable(word(value, kind), cell=True) for value, kind in zip(row, schema.types, strict=True)]
        for row in python_rows(result.table.slice(0, _ROWS))
    ]
    if vertical:
        echo_lines(vertical_lines([column.header for column in columns], rows, width))
    else:
        echo_lines(table_lines(columns, rows, width))
    if len(result) > _ROWS:
        echo(f"{_ROWS:,} of {len(result):,} rows; --json prints all", err=True)

"""Rows of a query for people and for programs."""

from __future__ import annotations

import base64
import json
import math
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hoodie.display import printable
from hoodie.sql import Result
from hoodie.sql.result import python_rows
from hudi_services.runtime.terminal import echo

_ROWS = 1_000
"""Rows that are printed for people."""
_WIDE = 10_000  # characters a line if the output goes to no terminal


def print_json(result: Result) -> None:
    """Print one JSON object a row."""
    schema = result.table.schema
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
        return {name: plain(each, kind.field(name).type) for name, each in value.items()}
    if isinstance(value, list):
        if pa.types.is_map(kind):
            return {str(key): plain(each, kind.item_type) for key, each in value}
        return [plain(each, kind.value_type) for each in value]
    return value


def _word(value: Any) -> str:
    return "NULL" if value is None else str(value)


def print_table(result: Result) -> None:
    """The first rows in columns, and how many there are."""
    told = Table()
    for name in result.table.column_names:
        told.add_column(Text(printable(name)))
    rows = result.table.slice(0, _ROWS)
    for row in python_rows(rows):
        told.add_row(*(Text(printable(_word(value))) for value in row))
    wide = None if sys.stdout.isatty() else _WIDE
    Console(width=wide).print(told)
    if len(result) > _ROWS:
        echo(f"{_ROWS} of {len(result):,} rows; --json prints all", err=True)

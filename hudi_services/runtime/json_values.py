"""Values in the form in which people and JSON see them, also those that Python or JSON cannot hold."""

from __future__ import annotations

import math
from contextlib import suppress

import pyarrow as pa


def is_number(kind: pa.DataType) -> bool:
    """Return true for types whose values people compare by their digits: integers, floats and decimals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def json_row_values(rows: pa.Table) -> list[dict[str, object]]:
    """Rows by column, each value as `json_value` has it."""
    columns = [told_values(column) for column in rows.columns]
    return [dict(zip(rows.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def told_values(column: pa.Array | pa.ChunkedArray) -> list[object]:
    """Each value as `json_value` has it."""
    if not pa.types.is_floating(column.type) and not pa.types.is_nested(column.type):
        with suppress(OverflowError, ValueError):
            result: list[object] = column.to_pylist()  # much faster
            return result
    return [json_value(value) for value in column]


def json_value(value: pa.Scalar) -> object:
    """A value of Python's, never NaN or infinite.

    Text represents NaN and infinity, times outside the years of Python (by their number and type), and bytes in a text that are
    not valid UTF-8. A map has its keys as text, as a JSON object does.
    """
    if not value.is_valid:
        return None
    if isinstance(value, pa.StructScalar):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, pa.MapScalar):
        pairs = [(json_value(pair["key"]), json_value(pair["value"])) for pair in value.values]
        return {str(key): item for key, item in pairs}
    if isinstance(value, pa.ListScalar):
        return told_values(value.values)
    try:
        plain = value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes().decode(errors="replace")
    except (OverflowError, ValueError):
        return f"{value.value} ({value.type})"
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else plain

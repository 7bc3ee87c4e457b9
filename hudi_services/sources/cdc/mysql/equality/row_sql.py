"""The bytes of rows (`row_text`) in the words of the server.

Were both to differ for equal values, rows would be compared one by one, and found to be equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.times import DATED
from hudi_services.sources.cdc.mysql.binlog.values import column_type
from hudi_services.sources.cdc.mysql.columns import YEAR2, DeclaredTable, year_with_century
from hudi_services.sources.cdc.mysql.facts import quoted

_REALS = (Code.FLOAT, Code.DOUBLE)
_DOUBLE = 10  # where the first number of a POINT begins: after its SRID, byte order and type


def row_expression(table: DeclaredTable, columns: Sequence[LoggedColumn]) -> str:
    """Return the expression of `row_bytes` of these columns, in a session whose times are in UTC."""
    return f"CONCAT({', '.join(_bytes(table, column) for column in columns)})"


def _bytes(table: DeclaredTable, column: LoggedColumn) -> str:
    name, kind = quoted(column.name), column_type(column)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        stored = _stored(name, column, is_text=pa.types.is_string(kind) and column.name not in table.charsets)
        return f"COALESCE(CONCAT(LENGTH({stored}), ':', {stored}), '-')"
    if column.code in _REALS:  # SQL has no other way to the bytes of a number
        return f"COALESCE(CONCAT('+', SUBSTR(POINT({name}, 0), {_DOUBLE}, 8)), '-')"
    return f"COALESCE({_printed(column, name)}, ''), ';'"


def _stored(name: str, column: LoggedColumn, *, is_text: bool) -> str:
    if column.choice == "text" and column.code not in DATED:
        return f"CAST(HEX(CAST({name} AS BINARY)) AS BINARY)"
    return f"CAST(CONCAT({name}) AS BINARY)" if is_text else f"CAST({name} AS BINARY)"  # a UUID is printed, not stored


def _printed(column: LoggedColumn, name: str) -> str:
    if column.code is Code.DATE:
        return _if_date(name, f"CONCAT({name})")
    if column.code is Code.DATETIME2:
        return _if_date(name, _six_digits(name, column.metadata))
    if column.code is Code.TIMESTAMP2:
        return f"IF({name} = 0, NULL, {_six_digits(name, column.metadata)})"
    if column.declared == YEAR2:
        return f"CONCAT({year_with_century(name)})"
    return f"CONCAT({name} + 0)"  # without the zeros of ZEROFILL


def _if_date(name: str, then: str) -> str:
    """Days that no calendar has are null, as `dates_of` makes them."""
    return f"IF(DAYOFMONTH({name}) BETWEEN 1 AND DAYOFMONTH(LAST_DAY({name})) AND {name} >= '0001-01-01', {then}, NULL)"


def _six_digits(name: str, digits: int) -> str:
    zeros = "0" * (6 - digits)
    return f"CONCAT({name}, '{zeros if digits else '.' + zeros}')"

"""The event TABLE_MAP: which columns the rows after it have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from hudi_services.sources.cdc.mysql.binlog.body import Body


class Code(IntEnum):
    """Types as the binlog numbers them (include/mysql_com.h of MariaDB, field_types.h of MySQL)."""

    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


_NAME = 8  # where the name of the database begins: after the number and the flags
OLD_TIMES = (Code.TIMESTAMP, Code.TIME, Code.DATETIME)
"""Types of MySQL before 5.6, and of MariaDB with mysql56_temporal_format=OFF."""
WHOLE_SECONDS = "seconds"
"""The declaration of a column of `OLD_TIMES` without fractions of seconds."""
_NUMERIC = {
    *(Code.TINY, Code.SHORT, Code.INT24, Code.LONG, Code.LONGLONG, Code.NEWDECIMAL, Code.FLOAT, Code.DOUBLE),
    Code.YEAR,  # it has no sign, but a bit for it (go-mysql#1118)
}
_CHARACTER = {Code.STRING, Code.VAR_STRING, Code.VARCHAR, Code.BLOB, Code.VARCHAR_COMPRESSED, Code.BLOB_COMPRESSED}
_METADATA = {
    Code.FLOAT: 1,
    Code.DOUBLE: 1,
    Code.TIMESTAMP2: 1,
    Code.DATETIME2: 1,
    Code.TIME2: 1,
    Code.BLOB: 1,
    Code.BLOB_COMPRESSED: 1,
    Code.VECTOR: 1,
    Code.JSON: 1,
    Code.GEOMETRY: 1,
    Code.VARCHAR: 2,
    Code.VARCHAR_COMPRESSED: 2,
    Code.VAR_STRING: 2,
    Code.BIT: 2,
    Code.NEWDECIMAL: 2,
    Code.STRING: 2,
    Code.ENUM: 2,
    Code.SET: 2,
}
"""Bytes of metadata a column of a type has."""
_SIGNEDNESS, _DEFAULT_CHARSET, _COLUMN_CHARSET, _COLUMN_NAME, _SET_VALUES, _ENUM_VALUES = range(1, 7)
_SIMPLE_KEY, _PREFIX_KEY, _ENUM_DEFAULT_CHARSET, _ENUM_COLUMN_CHARSET = range(8, 12)


@dataclass(frozen=True)
class LoggedColumn:
    """A column. `metadata` is a number whose meaning the type decides. `collation` is the server's number, 0 for none.

    `name` is empty and `labels` (of ENUM and SET, as bytes) are missing where the server does not log full metadata.
    `declared` is the type in the catalog where the log does not have it, `choice` what the reader chose (`Decoding`).
    """

    code: Code
    metadata: int
    name: str = ""
    unsigned: bool = False
    collation: int = 0
    labels: tuple[bytes, ...] = ()
    key: bool = False
    declared: str = ""
    choice: str = ""


@dataclass(frozen=True)
class TableMap:
    """The table that the server numbers `number` until its columns change or it restarts."""

    number: int
    database: str
    table: str
    columns: tuple[LoggedColumn, ...]


def table_name(data: bytes) -> tuple[int, str, str]:
    """Return the number, the database and the name of an event's table. Raises ValueError for a body that is cut off."""
    return _name(data)[:3]


def _name(data: bytes) -> tuple[int, str, str, int]:
    """The number, the database, the table, and where their columns begin. Each statement has such an event, so this is short."""
    try:
        database_end = _NAME + 1 + data[_NAME]
        table_end = database_end + 2 + data[database_end + 1]
        database = data[_NAME + 1 : database_end].decode("utf-8", "surrogateescape")
        table = data[database_end + 2 : table_end].decode("utf-8", "surrogateescape")
    except IndexError:
        table_end = len(data)
    if table_end >= len(data):
        raise ValueError(f"{len(data)} bytes at the begin of an event TABLE_MAP that is cut off")
    return int.from_bytes(data[:6], "little"), database, table, table_end + 1


def table_map(data: bytes, mariadb: bool) -> TableMap:
    """Decode the event's body without its checksum.

    Raises ValueError for a body that is cut off, and for a type that is unknown: its rows could not be walked.
    """
    number, database, table, place = _name(data)
    body = Body(data, place)
    codes = body.take(body.packed())
    metadata = Body(body.take(body.packed()))
    columns = [_column(code, metadata, mariadb) for code in codes]
    body.take((len(codes) + 7) // 8)  # which may be null: each row has its own bits
    return TableMap(number, database, table, tuple(_described(columns, body, mariadb)))


def _column(code: int, metadata: Body, mariadb: bool) -> LoggedColumn:
    try:
        kind = Code(code)
    except ValueError:
        raise ValueError(f"a column of the type {code}, which is unknown here") from None
    size = _METADATA.get(kind, 0)
    if kind is not Code.STRING:
        # The old times of MySQL have no fractions. Those of MariaDB may have.
        declared = WHOLE_SECONDS if kind in OLD_TIMES and not mariadb else ""
        return LoggedColumn(kind, metadata.number(size), declared=declared)
    first, second = metadata.number(1), metadata.number(1)
    if first in (Code.ENUM, Code.SET):
        return LoggedColumn(Code(first), second)
    # Lengths past 255 hide their two highest bits, inverted, in the byte of the type.
    return LoggedColumn(kind, second | (((first & 0x30) ^ 0x30) << 4))


def _described(columns: list[LoggedColumn], body: Body, mariadb: bool) -> list[LoggedColumn]:
    """Return the columns with what the optional metadata says. Fields that are unknown are left out by their length."""
    character = _CHARACTER | ({Code.GEOMETRY} if mariadb else set())
    texts = [place for place, column in enumerate(columns) if column.code in character]
    numbers = [place for place, column in enumerate(columns) if column.code in _NUMERIC]
    enums = [place for place, column in enumerate(columns) if column.code is Code.ENUM]
    sets = [place for place, column in enumerate(columns) if column.code is Code.SET]
    labelled = sorted(enums + sets)
    while body.left:
        kind = body.number(1)
        field = Body(body.take(body.packed()))
        if kind == _SIGNEDNESS:
            _fill(columns, numbers, "unsigned", _bits(field))
        elif kind == _COLUMN_NAME:
            _fill(columns, range(len(columns)), "name", (field.text(field.packed()) for _ in columns))
        elif kind == _DEFAULT_CHARSET:
            _fill(columns, texts, "collation", _with_default(field, len(texts)))
        elif kind == _COLUMN_CHARSET:
            _fill(columns, texts, "collation", _packed_numbers(field))
        elif kind == _ENUM_DEFAULT_CHARSET:
            _fill(columns, labelled, "collation", _with_default(field, len(labelled)))
        elif kind == _ENUM_COLUMN_CHARSET:
            _fill(columns, labelled, "collation", _packed_numbers(field))
        elif kind == _SET_VALUES:
            _fill(columns, sets, "labels", _labels(field))
        elif kind == _ENUM_VALUES:
            _fill(columns, enums, "labels", _labels(field))
        elif kind == _SIMPLE_KEY:
            for place in _packed_numbers(field):
                columns[place] = replace(columns[place], key=True)
        elif kind == _PREFIX_KEY:
            for place in list(_packed_numbers(field))[::2]:
                columns[place] = replace(columns[place], key=True)
    return columns


def _fill(columns: list[LoggedColumn], places: Sequence[int], attribute: str, values: Iterator[object]) -> None:
    for place, value in zip(places, values, strict=False):
        columns[place] = replace(columns[place], **{attribute: value})  # type: ignore[arg-type]


def _bits(field: Body) -> Iterator[bool]:
    """Yield bits, the highest of a byte first."""
    for byte in field.data:
        yield from (bool(byte >> bit & 1) for bit in range(7, -1, -1))


def _packed_numbers(field: Body) -> Iterator[int]:
    while field.left:
        yield field.packed()


def _with_default(field: Body, count: int) -> Iterator[int]:
    """Yield a collation for each of `count` columns: a default, then pairs of a column's place and its own."""
    default = field.packed()
    numbers = list(_packed_numbers(field))
    own = dict(zip(numbers[::2], numbers[1::2], strict=True))
    return (own.get(place, default) for place in range(count))


def _labels(field: Body) -> Iterator[tuple[bytes, ...]]:
    while field.left:
        yield tuple(field.take(field.packed()) for _ in range(field.packed()))

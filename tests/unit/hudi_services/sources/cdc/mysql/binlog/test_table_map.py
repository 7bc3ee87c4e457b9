"""The event TABLE_MAP, as bytes of a server that logs the least, and of types that are unknown."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn, TableMap, table_map, table_name
from hudi_services.sources.cdc.mysql.binlog.values import column_type

HEAD = b"\x07\0\0\0\0\0" + b"\1\0" + b"\4shop\0" + b"\1t\0"
MINIMAL = HEAD + b"\4" + bytes([3, 15, 254, 246]) + b"\6" + b"\x2c\1" + b"\xf7\1" + b"\x0a\2" + b"\x0f"
"""INT, VARCHAR of 300 bytes, ENUM of one byte, DECIMAL(10,2)."""


def test_types_and_their_metadata_are_read_without_names():
    assert table_map(MINIMAL, mariadb=True) == TableMap(
        7,
        "shop",
        "t",
        (
            LoggedColumn(Code.LONG, 0),
            LoggedColumn(Code.VARCHAR, 300),
            LoggedColumn(Code.ENUM, 1),
            LoggedColumn(Code.NEWDECIMAL, 0x20A),
        ),
    )


def test_optional_metadata_names_columns_and_what_is_unknown_is_passed_over():
    names = b"\2id" + b"\4name" + b"\1e" + b"\1d"
    optional = (
        b"\x01\x01\x40"  # the second number is unsigned
        + b"\x63\x03abc"  # a field of a later release
        + bytes([4, len(names)])
        + names
        + b"\x02\x01\x2d"  # all texts have the collation 45
        + b"\x06\x04\x01\x02ab"
        + b"\x08\x01\x00"
    )
    columns = table_map(MINIMAL + optional, mariadb=True).columns
    assert [column.name for column in columns] == ["id", "name", "e", "d"]
    assert [column.unsigned for column in columns] == [False, False, False, True]
    assert [column.collation for column in columns] == [0, 45, 0, 0]
    assert [column.key for column in columns] == [True, False, False, False]
    assert columns[2].labels == (b"ab",)


def test_the_length_of_long_fixed_text_is_put_together():
    """CHAR(255) of utf8mb4 has 1,020 bytes: two bits of the length are hidden in the type."""
    columns = table_map(HEAD + b"\1" + bytes([254]) + b"\2" + bytes([0xFE ^ 0x30, 0xFC]) + b"\0", mariadb=True).columns
    assert columns == (LoggedColumn(Code.STRING, 1020),)


def test_what_is_cut_off_or_unknown_is_refused():
    for end in range(len(MINIMAL)):
        with pytest.raises(ValueError, match=r"bytes at|unknown"):
            table_map(MINIMAL[:end], mariadb=True)
    with pytest.raises(ValueError, match="the type 99, which is unknown here"):
        table_map(HEAD + b"\1" + bytes([99]) + b"\0\0", mariadb=True)


def test_a_table_of_mysql_8_with_json_and_columns_that_are_not_seen():
    """As the server writes it: visibility (12) of each column is a bit, the highest first."""
    names = b"\2id" + b"\1j" + b"\1h"
    optional = b"\x01\x01\x80" + b"\x0c\x01\xc0" + b"\x0d\x01\x05" + bytes([4, len(names)]) + names + b"\x08\x01\x00"
    body = HEAD + b"\3" + bytes([8, 245, 3]) + b"\1\4" + b"\6" + optional
    columns = table_map(body, mariadb=False).columns
    assert [(column.name, column.code, column.metadata) for column in columns] == [
        ("id", Code.LONGLONG, 0),
        ("j", Code.JSON, 4),
        ("h", Code.LONG, 0),
    ]
    assert [column.unsigned for column in columns] == [True, False, False]
    assert column_type(columns[1]) == pa.string()


def test_the_name_of_a_table_is_read_though_its_types_are_unknown():
    assert table_name(HEAD + b"\1" + bytes([99]) + b"\0\0") == (7, "shop", "t")


def test_a_year_has_a_bit_among_the_signs():
    """MySQL writes 0 for a YEAR, MariaDB 1 (go-mysql-org/go-mysql#1118). The signs of the numbers after it were shifted."""
    names = bytes([4, 6]) + b"\1y" + b"\1a" + b"\1b"
    for bits, signs in ((0b10100000, [True, False, True]), (0b01000000, [False, True, False])):
        body = HEAD + b"\3" + bytes([13, 1, 1]) + b"\0" + b"\7" + b"\1\1" + bytes([bits]) + names
        assert [column.unsigned for column in table_map(body, mariadb=True).columns] == signs

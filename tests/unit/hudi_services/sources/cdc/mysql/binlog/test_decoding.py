"""Choices of a user and types of the catalog, applied to columns of the log."""

from __future__ import annotations

from hudi_services.sources.cdc.mysql.binlog.decoding import AS_LOGGED, Choices, Decoding, may_be_text
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn, TableMap
from hudi_services.sources.cdc.mysql.binlog.values import BINARY_COLLATION

COLUMNS = (
    LoggedColumn(Code.DATE, 0, "d"),
    LoggedColumn(Code.STRING, 16, "u", collation=BINARY_COLLATION),
    LoggedColumn(Code.BIT, 9, "b"),
    LoggedColumn(Code.LONG, 0, "n"),
)
TABLE = TableMap(1, "shop", "t", COLUMNS)


def test_a_choice_is_for_the_columns_of_its_table():
    assert AS_LOGGED.table(TABLE) == TABLE
    other = Decoding({("shop", "u"): Choices("fail")}, {("shop", "u", "u"): "uuid"})
    assert other.table(TABLE) == TABLE
    chosen = Decoding({("shop", "t"): Choices("fail", frozenset({"b", "n"}))}, {("shop", "t", "u"): "uuid"})
    found = chosen.table(TABLE).columns
    assert [column.choice for column in found] == ["fail", "", "text", ""]
    assert [column.declared for column in found] == ["", "uuid", "", ""]


def test_columns_of_bytes_and_of_dates_may_be_text():
    assert [column.name for column in COLUMNS if may_be_text(column)] == ["d", "u", "b"]
    for column in (
        LoggedColumn(Code.BIT, 1, "one"),
        LoggedColumn(Code.GEOMETRY, 4, "g"),
        LoggedColumn(Code.VARCHAR, 9, "v"),
    ):
        assert not may_be_text(column)

"""The part of a filter that the server applies: it never leaves out a row that meets the filter."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.columns import DeclaredTable, printed_column
from hudi_services.sources.cdc.mysql.server_filter import server_condition
from hudi_services.sources.cdc.row_filter import RowFilter

COLUMNS = {"id": "int(11)", "N`n": "bigint(20) unsigned", "v": "varchar(9)", "f": "double", "d": "date"}
TABLE = DeclaredTable("db", "t", tuple(printed_column(*one) for one in COLUMNS.items()), ("id",), {})


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("", ""),
        ("ID >= 5", "(`id` >= 5)"),
        ("id in (1, -2)", "(`id` IN (1, -2))"),
        ("id is not null and not (id <> 3)", "((NOT (`id` IS NULL)) AND (NOT (`id` <> 3)))"),
        ("v = 'a'", ""),
        ("v = 'a' and id < 3", "((`id` < 3))"),
        ("v = 'a' or id < 3", ""),
        ("not (v = 'a' or id < 3)", "((NOT (`id` < 3)))"),
        ("not (v = 'a' and id < 3)", ""),
        ("f = 1 or d is null or id = 1.5 or id = '1' or id between 1 and 2", ""),
    ],
)
def test_whole_numbers_are_compared_by_the_server(text, condition):
    assert server_condition(RowFilter(text), TABLE) == condition


def test_names_are_quoted():
    assert server_condition(RowFilter('"N`n" < 3'), TABLE) == "(`N``n` < 3)"

"""Rows whose keys tables share: each is compared with the lake's row of its table, or said to be not compared."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.equality.shared_keys import SharedKeyRows, names_of, owned_rows
from hudi_services.sources.cdc.mysql.equality.spool import PARTS
from hudi_services.sources.cdc.mysql.table_source import TableSource

SCHEMA = pa.schema(
    [("_source_database", pa.string()), ("_source_table", pa.string()), ("id", pa.int32()), ("v", pa.string())]
)


def rows(*values):
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, ("d", *row), strict=True)) for row in values], SCHEMA)


def names(*tables):
    return names_of([TableSource("shop", "d", name) for name in tables])


@pytest.mark.parametrize(
    ("server", "lake", "compared", "left_of_lake", "shared"),
    [
        ([("a", 1), ("b", 1)], [("b", 1)], [("b", 1)], [("b", 1)], [("a", 1)]),  # the row moves
        ([("a", 1)], [("b", 1)], [("a", 1)], [("b", 1)], []),  # b does not have it: the lake is wrong
        ([("a", 1)], [("unread", 1)], [], [], [("a", 1)]),  # that table may have it at the server
        ([("a", 1)], [("unread", 2)], [("a", 1)], [], []),
        ([("a", 1), ("b", 1)], [], [("a", 1)], [], [("b", 1)]),  # it is missing once
        ([("a", 1), ("b", 1)], [("c", 1)], [("a", 1)], [("c", 1)], [("b", 1)]),
        ([], [("a", 1)], [], [("a", 1)], []),
        ([], [("never", 1)], [], [], []),  # rows of tables that were never loaded are counted elsewhere
        ([("a", 1)], [("never", 1)], [("a", 1)], [("never", 1)], []),
        ([("b", 1), ("a", 1)], [("a", 1), ("a", 1)], [("a", 1)], [("a", 1), ("a", 1)], [("b", 1)]),  # copies
    ],
)
def test_the_row_that_is_compared(server, lake, compared, left_of_lake, shared):
    def pairs(table):
        return [(row["_source_table"], row["id"]) for row in table.to_pylist()]

    of_server, of_lake = (rows(*((*row, "x") for row in side)) for side in (server, lake))
    owned = owned_rows(of_server, of_lake, ("id",), names("a", "b", "c"), names("unread"))
    assert (pairs(owned.server), pairs(owned.lake), pairs(owned.shared)) == (compared, left_of_lake, shared)


class Parts:
    """Rows of one part, in memory."""

    def __init__(self, table):
        self.table = table

    def part(self, number):
        return self.table if number == PARTS - 1 else self.table.slice(0, 0)


def test_differences_are_of_rows_that_can_be_compared():
    server = rows(("a", 1, "old"), ("b", 1, "new"), ("a", 2, "x"), ("b", 3, "y"))
    lake = rows(("b", 1, "other"), ("c", 2, "x"))
    compared = SharedKeyRows(Parts(server), Parts(lake), ("id",), False, compared=names("a", "b", "c"))
    [difference] = compared.differences()
    assert [row["id"] for row in difference.missing.to_pylist()] == [3]
    assert sorted(difference.columns) == ["_source_table", "v"]
    assert [(row["_source_table"], row["id"]) for row in difference.server.to_pylist()] == [("b", 1), ("a", 2)]
    assert compared.shared() == {"d.a": 1}

"""Rows of two slices become changes."""

from __future__ import annotations

import pyarrow as pa

from tests.support.changes import operations, write
from tests.support.tables import SMALL_BLOOM, batch


def test_a_filter_keeps_rows_that_pass_on_either_side(table):
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1)], "insert")
    start = write(table, [("a", "p", 1, 5), ("b", "p", 1, 5), ("d", "p", 1, 9)])
    assert operations(table.read_changes(filter="value = 5")) == [("u", "a", 1, 5), ("u", "b", 1, 5)]
    write(table, [("a", "p", 1, 6), ("d", "p", 1, 8)])
    assert operations(table.read_changes(start, filter="value = 5", columns=["value"])) == [("u", "a", 5, 6)]


def test_rows_that_are_written_again_as_they_were_are_no_change(table):
    start = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 1, 1)])
    write(table, [("x", "p", 1, 1)], "delete")
    assert operations(table.read_changes(start)) == []


def test_columns_that_came_later_are_null_before(table):
    start = write(table, [("a", "p", 1, 1)], "insert")
    wider = batch([("a", "p", 2, 2)]).append_column("more", pa.array(["x"]))
    table.write(wider, "upsert", SMALL_BLOOM)
    (change,) = table.read_changes(start).to_pylist()
    assert change["before"] == {"id": "a", "part": "p", "ts": 1, "value": 1, "more": None}
    assert change["after"]["more"] == "x"

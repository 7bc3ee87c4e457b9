"""The file groups that a commit changed."""

from __future__ import annotations

from tests.support.changes import operations, write


def test_replaced_rows_are_deletes_then_inserts(table):
    start = write(table, [("a", "p", 1, 1), ("b", "q", 1, 1)], "insert")
    write(table, [("a", "p", 1, 2), ("c", "p", 1, 2)], "insert_overwrite")
    assert operations(table.read_changes(start)) == [("d", "a", 1, None), ("i", "a", None, 2), ("i", "c", None, 2)]
    dropped = table.delete_partitions(["part=q"]).instant
    start = table.read_changes()["_hoodie_completion_time"][-2].as_py()
    assert operations(table.read_changes(start)) == [("d", "b", 1, None)]
    assert table.read_changes()["_hoodie_commit_time"][-1].as_py() == dropped.time

"""Changes of the newest commits are counted, and no more is read than is allowed."""

from __future__ import annotations

from hoodie import CLEAN, COMPACTION
from hoodie.changes.counts import Counts, newest_counts
from hoodie.engine import LocalEngine
from tests.support.changes import write


def found(table, number=10, most_bytes=None):
    return newest_counts(table.state(), number, most_bytes, LocalEngine())


def counts(table, *asked):
    return [each.counts for each in found(table, *asked)]


def test_the_newest_commits_that_changed_rows(table):
    assert found(table) == []
    write(table, [("a", "p", 1, 1), ("b", "q", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("c", "q", 2, 2)])
    write(table, [("b", "q", 3, 3)], "delete")
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    expected = [Counts(deleted=1), Counts(1, 1), Counts(2)]
    assert counts(table) == expected
    assert counts(table, 2) == expected[:2]
    newest = found(table, 1)[0]
    assert newest.completion == table.read_changes()["_hoodie_completion_time"][-1].as_py()
    assert newest.size > 0


def test_commits_with_too_many_bytes_are_not_counted(table):
    write(table, [("a", "p", 1, 1)])
    write(table, [("a", "p", 2, 2)])
    write(table, [("b", "q", 1, 1)])
    newest, large, first = (each.size for each in found(table))
    some = found(table, 10, newest + first)
    assert [each.counts for each in some] == [Counts(1), None, Counts(1)]
    assert (some[1].size, "too many bytes" in some[1].reason) == (large, True)


def test_cleaned_commits_are_named(table):
    for n in range(3):
        write(table, [("a", "p", n, n)])
        if table.properties.is_merge_on_read:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    newest, *older = found(table)
    assert newest.counts == Counts(0, 1)
    assert {each.counts for each in older} == {None}
    assert all("was cleaned" in each.reason for each in older)

"""Version 6: a log that a lost attempt left beside that of its completed delta commit."""

from __future__ import annotations

import re

import pytest

from hoodie import ARCHIVE, COMPACTION, Rollback
from tests.support.clock import FakeClock
from tests.support.long_timelines import SHORT
from tests.support.tables import SMALL_BLOOM, batch, content, create

V6 = {"hoodie.write.table.version": "6", "hoodie.table.type": "MERGE_ON_READ"}


def made(path, *values):
    """One file group of `a` and `b`, and a log for each value of `a`."""
    table = create(path, FakeClock(), **V6)
    table.write(batch([("a", "p", 0, 0), ("b", "p", 0, 0)]), "upsert", SMALL_BLOOM)
    for value in values:
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    return table


def leave(table, rows, number=-1):
    """A log of a lost attempt at the delta commit `number`: it had other rows."""
    log, commit = table.file_slices()[0].log_files[number], table.timeline.commits[number]
    other = made(f"{table.base_path}-other")
    other.write(batch(rows), "upsert", SMALL_BLOOM)
    (theirs,) = other.file_slices()[0].log_files
    data = other.storage.read(theirs.path).replace(other.timeline.last_commit.time.encode(), commit.time.encode())
    path = re.sub(r"(\.log\.\d+)_.*", r"\1_7-77-777", log.path)
    table.storage.create(path, data)
    return path


@pytest.mark.parametrize("number", [-1, -2])
def test_its_blocks_are_neither_read_nor_merged(tmp_path, number):
    table = made(tmp_path / "t", 2, 3)
    stray = leave(table, [("a", "p", 9, 9), ("b", "p", 9, 9)], number)
    assert stray in table.file_slices()[0].paths
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 0, 0)}
    table.write(batch([("b", "p", 4, 4)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 4, 4)}
    table.schedule(COMPACTION, force=True)
    table.write(batch([("a", "p", 5, 5)]), "upsert", SMALL_BLOOM)
    table.run(COMPACTION)
    assert content(table) == {"a": ("p", 5, 5), "b": ("p", 4, 4)}


def test_archival_waits_for_the_doctor(tmp_path):
    """Nothing says of an archived commit's blocks which of them are its own."""
    table = made(tmp_path / "t", *range(2, 8))
    stray = leave(table, [("a", "p", 9, 9)], -5)
    options = {**SHORT, "hoodie.compact.inline.max.delta.commits": 2}
    assert re.search(rf"{re.escape(stray)} has blocks of.*doctor --fix", table.explain(ARCHIVE, options).reason)
    table.run(ARCHIVE, options)
    assert content(table)["a"] == ("p", 7, 7)
    found = table.diagnose()
    assert [(each.check, each.path) for each in found.findings] == [("uncommitted-file", stray)]
    table.mend(found)
    table.run(ARCHIVE, options)
    assert len(table.timeline.commits) == 2
    assert content(table)["a"] == ("p", 7, 7)


def test_a_log_of_a_rollback_counts(tmp_path):
    """No commit names it: its command block takes the blocks of others back."""
    table = made(tmp_path / "t", 2, 3)
    table.run(Rollback(table.timeline.last_commit.time))
    assert content(table)["a"] == ("p", 2, 2)
    assert table.diagnose().findings == ()

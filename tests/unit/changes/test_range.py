"""The commits of a range, and the ranges that are refused."""

from __future__ import annotations

from collections import Counter

import pytest

from hoodie import Restore, Rollback
from hoodie.changes.consumer_lag import unread
from hoodie.errors import ChangeRangeError, PendingInstantError
from hoodie.model.time import Time
from hoodie.timeline import Action
from tests.support.archive import archive_before
from tests.support.changes import Follower, operations, write
from tests.support.clock import FakeClock
from tests.support.tables import create


def test_archived_commits_are_part_of_the_range(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(1, 7)]
    before = operations(table.read_changes())
    archive_before(table, table.timeline.commits[4].time)
    assert operations(table.read_changes()) == before
    assert operations(table.read_changes(times[1], times[3])) == [("u", "a", 2, 3), ("u", "a", 3, 4)]


def test_a_table_that_was_restored(table):
    kept = write(table, [("a", "p", 1, 1)], "insert")
    table.savepoint()
    follower = Follower(table)
    undone = write(table, [("a", "p", 2, 2)])
    follower.follow()
    table.run(Restore(table.timeline.commits[0].time))
    with pytest.raises(ChangeRangeError, match="took back commit"):
        follower.follow()
    assert operations(table.read_changes(kept)) == []
    last = write(table, [("a", "p", 3, 3)])
    assert operations(table.read_changes(kept)) == [("u", "a", 1, 3)]
    with pytest.raises(ChangeRangeError, match=f"after {kept}"):
        table.read_changes(undone)
    assert operations(table.read_changes(last)) == []


def test_a_commit_that_was_rolled_back(table):
    kept = write(table, [("a", "p", 1, 1)], "insert")
    undone = write(table, [("a", "p", 2, 2)])
    table.run(Rollback(table.timeline.commits[-1].time))
    with pytest.raises(ChangeRangeError, match="no commit completed at"):
        table.read_changes(undone)
    write(table, [("a", "p", 3, 3)])
    assert operations(table.read_changes(kept)) == [("u", "a", 1, 3)]


@pytest.mark.parametrize("back", [Restore, Rollback])
def test_what_took_back_commits_is_archived(table, back):
    kept = write(table, [("a", "p", 1, 1)], "insert")
    first = table.timeline.commits[0].time
    table.savepoint()
    undone = write(table, [("a", "p", 2, 2)])
    if back is Restore:
        table.run(Restore(first))
    else:
        table.run(Rollback(table.timeline.commits[-1].time))
    table.delete_savepoint(first)
    for number in (3, 4, 5):
        last = write(table, [("a", "p", number, number)])
    archive_before(table, table.timeline.commits[-1].time)
    with pytest.raises(ChangeRangeError, match="took back"):
        table.read_changes(undone)
    assert operations(table.read_changes(kept)) == [("u", "a", 1, 3), ("u", "a", 3, 4), ("u", "a", 4, 5)]
    assert operations(table.read_changes(last)) == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_write_that_may_complete_late(tmp_path, kind):
    """Version 6 orders by the begin of commits: a consumer would pass over a write that began before the last one."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": "6", "hoodie.table.type": kind})
    start = write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    action = Action.DELTA_COMMIT if table.properties.is_merge_on_read else Action.COMMIT
    rival = Time.of(str(int(start) + 1))
    table.storage.create(table.state().layout.requested_path(rival, action), b"")
    with pytest.raises(PendingInstantError, match=rival):
        table.read_changes(start)


def test_archived_bodies_are_decoded_three_times_at_most(table, monkeypatch):
    """To know what the range touches, when the changes of the commit are read, and for the files that it names, which are
    remembered."""
    times = [write(table, [("a", "p", n, n)]) for n in range(6)]
    archive_before(table, table.timeline.commits[4].time)
    state = table.state()
    decoded = Counter()
    real = type(state.archive).commit_metadata
    monkeypatch.setattr(
        type(state.archive), "commit_metadata", lambda self, i: decoded.update([i.time]) or real(self, i)
    )
    assert len(table.read_changes(times[0])) == 5
    assert max(decoded.values()) == 3
    assert len(table.read_changes(times[0])) == 5
    assert max(decoded.values()) == 5


def test_a_commit_that_began_early_and_is_archived_is_unread_too(tmp_path):
    """Hudi's archiver may take it while the commit of the position, which began later, stays."""
    table = create(tmp_path / "t", FakeClock())
    times = [write(table, [("a", "p", n, n)]) for n in range(3)]
    first, second, _ = table.timeline.commits
    folder = tmp_path / "t" / ".hoodie" / "timeline"
    late = f"{int(str(table.timeline.commits[-1].completion_time)) + 1}"
    (folder / first.file_name).rename(folder / f"{first.time}_{late}.commit")
    archive_before(table, second.time)
    found = unread(table.state(), times[1])
    assert [commit.time for commit in found.commits] == [table.timeline.commits[-1].time, first.time]

"""The state of a table at one moment."""

from __future__ import annotations

import pytest

from tests.support.archive import beyond_savepoints


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("saved", [(), (0,), (0, 4)])
def test_commits_come_newest_first_also_where_older_ones_are_active(tmp_path, version, saved):
    table, commits, _ = beyond_savepoints(tmp_path / "t", version, saved, (7, 8))
    state = table.state()
    assert [each.time for each in state.newest_commits()] == [each.time for each in reversed(commits)]


def test_the_archive_is_not_read_for_the_newest_commit(tmp_path):
    table, commits, _ = beyond_savepoints(tmp_path / "t", "9", (0,), (7, 8))
    table.storage.delete_folder(table.state().layout.archive_folder)
    assert next(table.state().newest_commits()).time == commits[-1].time

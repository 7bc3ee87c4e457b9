"""A writer that has lost the lock completes nothing, and leaves the work of the next holder."""

from __future__ import annotations

import pytest

from hoodie.errors import LockLostError
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.fencing import withdraw_if_overtaken
from hoodie.transaction.locks.files import LOCK
from hoodie.write.execute import WriteHooks
from tests.support.clock import FakeClock
from tests.support.tables import batch, content, create

FIRST, SECOND = batch([("a", "p", 1, 1)]), batch([("b", "p", 1, 1)])


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(FIRST, "insert")
    return table


def taken_by_another(table):
    """Break the lock as another user does, and let another writer begin under its own."""
    table.storage.delete(LOCK)
    table.storage.create(LOCK, b"another's")
    state = table.state()
    time = str(int(max(instant.time for instant in state.timeline)) + 1000)
    return instants.start(state, instants.request(state, time, Action.COMMIT)).time


def test_a_write_whose_lock_was_taken_away_is_not_completed(table):
    others = []

    def lose():
        others.append(taken_by_another(table))
        return {}

    with pytest.raises(LockLostError, match=r"\.hoodie/lock .*was taken away from upsert.*another's lock"):
        table.write(SECOND, "upsert", hooks=WriteHooks(before_commit=lose))
    assert set(content(table)) == {"a"}
    assert others[0] in [instant.time for instant in table.timeline.pending], "the next holder's own write was undone"
    assert table.storage.read(LOCK) == b"another's"


def test_a_write_that_fails_after_its_lock_is_lost_undoes_nothing(table):
    def lose():
        taken_by_another(table)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        table.write(SECOND, "upsert", hooks=WriteHooks(before_commit=lose))
    assert len(table.timeline.pending) == 2, "its own write, and that of the lock's next holder"


@pytest.mark.parametrize("how", ["rolled back", "completed"])
def test_a_commit_that_came_too_late_is_taken_back(table, how):
    state = table.state()
    (done,) = state.timeline.commits
    pending, completed = f".hoodie/timeline/{done.time}.commit.requested", state.layout.path(done)
    withdraw_if_overtaken(table.storage, pending, completed)
    assert set(content(table)) == {"a"}
    if how == "rolled back":
        table.storage.delete(pending)
    else:
        table.storage.create(f".hoodie/timeline/{done.time}_{int(done.completion_time) + 1}.commit", b"")
    with pytest.raises(LockLostError, match="completed too late"):
        withdraw_if_overtaken(table.storage, pending, completed)
    assert table.storage.info(completed) is None

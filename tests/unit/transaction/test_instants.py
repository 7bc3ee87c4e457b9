"""The last step of a change: done is done, with any answer, and nothing that comes after it makes it look undone."""

from __future__ import annotations

import errno
from contextlib import nullcontext

import pytest

from hoodie import HoodieTable
from hoodie.errors import LockLostError, NotCommittedError, PendingInstantError, UnclearCommitError
from hoodie.model.commit import CommitMetadata
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.locks.current_lock import holding
from hoodie.transaction.locks.files import LOCK
from tests.support.clock import FakeClock
from tests.support.tables import batch, content, create

FULL = OSError(errno.ENOSPC, "No space left on device")
BROKEN = OSError(errno.EIO, "Input/output error")
LOST = TimeoutError("the answer was lost")


class Failing(LocalStorage):
    """Fails on request: `when(verb, path)` gives an error and whether the call is done before it is raised."""

    def __init__(self, base_path, when):
        super().__init__(base_path)
        self.when = when

    def _do(self, verb, path, *rest):
        error, done = self.when(verb, path) or (None, True)
        result = getattr(super(), verb)(path, *rest) if done else None
        if error is not None:
            raise error
        return result

    def create(self, path, data):
        return self._do("create", path, data)

    def delete(self, path):
        return self._do("delete", path)

    def read(self, path):
        return self._do("read", path)

    def delete_folder(self, folder):
        return self._do("delete_folder", folder)


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    made.write(batch([("a", "p", 1, 1)]), "insert")
    return made


def failing(table, when):
    return HoodieTable(Failing(table.base_path, when), table.engine, table.clock)


def completes(verb, path):
    return verb == "create" and path.startswith(".hoodie") and path.endswith(".commit")


@pytest.mark.parametrize("error", [LOST, BROKEN, FileExistsError(errno.EEXIST, "File exists"), ConnectionResetError()])
def test_a_commit_that_is_there_is_done_whatever_the_answer_was(table, error):
    failing(table, lambda *call: (error, True) if completes(*call) else None).write(batch([("b", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a", "b"}


def test_a_commit_that_was_refused_is_not_in_and_may_be_tried_again(table):
    broken = failing(table, lambda *call: (FULL, False) if completes(*call) else None)
    with pytest.raises(
        NotCommittedError, match=r"commit 2026\d+ of table .* was not completed.*No space.*run it again"
    ):
        broken.write(batch([("b", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a"}
    table.write(batch([("b", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a", "b"}
    assert table.timeline.pending == ()


@pytest.mark.parametrize("error", [LOST, BROKEN, ZeroDivisionError("of the client")])
@pytest.mark.parametrize("later", [True, False])
def test_a_commit_that_may_yet_come_is_unclear(table, error, later):
    """A request that timed out may be carried out after the look."""
    late = []

    def when(verb, path):
        if completes(verb, path):
            late.append(path)
            return error, False
        return None

    with pytest.raises(
        UnclearCommitError, match=r"unknown whether .*2026\d+ .*show commits.*before anything is run"
    ) as caught:
        failing(table, when).write(batch([("b", "p", 1, 1)]), "insert")
    assert "run it again" not in str(caught.value)
    assert set(content(table)) == {"a"}
    if not later:
        table.write(batch([("b", "p", 1, 1)]), "insert")
        assert set(content(table)) == {"a", "b"}
        assert table.timeline.pending == ()


def test_an_instant_that_another_process_completed_is_not_ours(table):
    def when(verb, path):
        if completes(verb, path):
            table.storage.create(path, b"another's")
            return FileExistsError(errno.EEXIST, "File exists"), False
        return None

    with pytest.raises(PendingInstantError, match="completed by another process"):
        failing(table, when).write(batch([("b", "p", 1, 1)]), "insert")


@pytest.mark.parametrize("what", ["lock", "markers"])
def test_what_comes_after_the_commit_does_not_make_it_look_undone(table, what, caplog):
    def when(verb, path):
        released = what == "lock" and verb == "delete" and path == LOCK
        return (BROKEN, False) if released or (what == "markers" and verb == "delete_folder") else None

    failing(table, when).write(batch([("b", "p", 1, 1)]), "insert")
    assert "could not be" in caplog.text
    assert set(content(table)) == {"a", "b"}
    table.write(batch([("c", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a", "b", "c"}
    assert table.storage.info(LOCK) is None


def test_a_rollback_that_fails_does_not_hide_why_the_write_did(table, caplog):
    def when(verb, path):
        return (BROKEN, False) if verb == "create" and ".rollback" in path else None

    class Breaking(Failing):
        def open_output(self, path):
            raise ZeroDivisionError("in a worker")

    with pytest.raises(ZeroDivisionError, match="in a worker"):
        HoodieTable(Breaking(table.base_path, when), table.engine, table.clock).write(
            batch([("b", "p", 1, 1)]), "insert"
        )
    assert "left to the next writer" in caplog.text
    table.write(batch([("b", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a", "b"}
    assert table.timeline.pending == ()


def test_a_lock_whose_answer_was_lost_is_held(table):
    seen = []

    def when(verb, path):
        if verb == "create" and path == LOCK:
            seen.append(path)
            return FileExistsError(errno.EEXIST, "File exists"), True
        return None

    failing(table, when).write(batch([("b", "p", 1, 1)]), "insert", {"hoodie.write.lock.wait_time_ms": 0})
    assert seen == [LOCK]
    assert table.storage.info(LOCK) is None


@pytest.mark.parametrize("certain", [[False], [True, False]], ids=["before it", "while it is made"])
def test_no_plan_is_left_by_who_has_lost_the_lock(tmp_path, certain):
    """It was stopped since it looked at the table, and others have committed what the plan would hide (seed 86)."""
    table = create(tmp_path / "t", FakeClock())

    class Lost:
        def certain(self):
            return certain.pop(0)

        def verify(self):
            raise LockLostError("lost", fix="run it again")

        def release(self):
            pass

    before = sorted(path.name for path in (tmp_path / "t").rglob("*"))
    with holding(Lost()), pytest.raises(LockLostError):
        instants.request(table.state(), "20260601000000000", Action.COMPACTION, b"plan")
    assert sorted(path.name for path in (tmp_path / "t").rglob("*")) == before


@pytest.mark.parametrize("certain", [True, False])
def test_a_commit_goes_again_if_its_lock_may_have_been_lost_and_another_rolled_it_back(tmp_path, certain):
    """The writer was stopped between its look at the lock and the completed file."""

    class Late:
        def certain(self):
            return certain

        def verify(self):
            """It was held then."""

        def release(self):
            pass

    table = create(tmp_path / "t", FakeClock())
    state = table.state()
    inflight = instants.start(state, instants.request(state, "20260601000000000", Action.COMMIT))
    table.storage.delete(state.layout.path(inflight))
    body = state.layout.encode_commit(CommitMetadata("INSERT"), replace=False)
    with holding(Late()), pytest.raises(LockLostError) if not certain else nullcontext():
        instants.complete(state, inflight, body, table.clock)
    assert [each.time for each in table.timeline.commits] == ([inflight.time] if certain else [])

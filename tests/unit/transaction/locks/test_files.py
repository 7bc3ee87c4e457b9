"""One writer at a time: the lock shows its owner, is free once that is certainly dead, and is otherwise broken only by hand."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from uuid import uuid4

import pytest

from hoodie.errors import LockHeldError, PendingInstantError, StorageError
from hoodie.storage import LocalStorage
from hoodie.transaction.locks import service_lock, table_lock
from hoodie.transaction.locks.base import Patience
from hoodie.transaction.locks.files import LOCK, FileLock
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT, locking, lying
from tests.support.tables import batch, content, create


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


def test_a_second_writer_waits_and_is_told_who_holds_the_lock(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", NO_WAIT):
        begun = clock.time
        with pytest.raises(LockHeldError) as caught, table_lock(storage, clock, "clean", locking(wait_time_ms=5000)):
            pytest.fail("two writers at once")
        assert (clock.time - begun).total_seconds() >= 5
    text = str(caught.value)
    assert socket.gethostname() in text
    assert str(os.getpid()) in text
    assert "upsert" in text
    assert "s old" in text
    assert "hudi-services unlock" in text
    with table_lock(storage, clock, "clean", NO_WAIT):
        pass
    assert storage.info(LOCK) is None


@pytest.mark.parametrize(("wait_ms", "lines"), [(5_000, 0), (60_000, 1)])
def test_a_wait_of_more_than_five_seconds_names_the_holder_once(storage, caplog, wait_ms, lines):
    clock = FakeClock()
    with (
        table_lock(storage, clock, "upsert", NO_WAIT),
        pytest.raises(LockHeldError),
        table_lock(storage, clock, "clean", locking(wait_time_ms=wait_ms)),
    ):
        pytest.fail("two writers at once")
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == lines
    for text in texts:
        assert text.startswith(f"Table {storage.base_path} is locked by another writer, waited ")
        assert "s, and waits for up to 60 s. Found: lock .hoodie/lock, " in text
        assert str(os.getpid()) in text


def test_a_holder_that_cannot_be_read_does_not_end_the_wait(storage, caplog, monkeypatch):
    def unreadable(lock, waited):
        raise StorageError("no answer")

    clock = FakeClock()
    with table_lock(storage, clock, "upsert", NO_WAIT):
        free_at = clock.time + timedelta(seconds=20)
        monkeypatch.setattr(FileLock, "_held_error", unreadable)
        attempt = FileLock._attempt
        monkeypatch.setattr(
            FileLock, "_attempt", lambda *parts: attempt(*parts) if clock.time < free_at else "the lock"
        )
        assert FileLock(storage, clock).acquire("clean", Patience(clock, 60_000, 1_000)) == "the lock"
    assert caplog.records == []


def test_the_lock_goes_also_when_the_block_fails(storage):
    with pytest.raises(ZeroDivisionError), table_lock(storage, FakeClock(), "upsert", NO_WAIT):
        1 / 0  # noqa: B018
    assert storage.info(LOCK) is None


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path, storage):
    code = (
        "import os, sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from tests.support.locks import NO_WAIT; from hoodie.transaction.locks import table_lock\n"
        f"with table_lock(LocalStorage({str(tmp_path)!r}), SystemClock(), 'upsert', NO_WAIT):\n    os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9
    assert storage.info(LOCK) is not None
    with table_lock(storage, FakeClock(), "clean", NO_WAIT):
        assert json.loads(storage.read(LOCK))["purpose"] == "clean"


@pytest.mark.parametrize(
    "content", [b"", b"not json", json.dumps({"lockCreateTime": "x", "lockThreadName": "Hudi"}).encode()]
)
def test_a_lock_of_another_program_is_respected(storage, content):
    storage.create(LOCK, content)
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", locking(wait_time_ms=1000)):
        pytest.fail("took a foreign lock")
    assert storage.read(LOCK) == content
    assert lying(storage) == {LOCK: content.decode()}
    storage.delete(LOCK)
    assert lying(storage) == {}


def test_locks_of_services_are_seen_and_broken_too(storage):
    clock = FakeClock()
    with service_lock(storage, clock, "compaction-7", NO_WAIT):
        (path,) = lying(storage)
        assert path.endswith("compaction-7.lock")
        storage.delete(path)
        with service_lock(storage, clock, "compaction-7", NO_WAIT):
            mine = storage.read(path)
    assert "compaction-7" in mine.decode()
    assert lying(storage) == {}


def test_the_lock_of_a_successor_stays_when_a_broken_one_is_released(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", NO_WAIT):
        storage.delete(LOCK)
        storage.create(LOCK, b"another's")
    assert storage.read(LOCK) == b"another's"


def leave(storage, **changes):
    """A lock as a process of this machine leaves it that is gone."""
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", NO_WAIT):
        entry = json.loads(storage.read(LOCK))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    entry = {**entry, "pid": gone.pid, **changes}
    storage.create(LOCK, json.dumps(entry).encode())
    return entry


def test_of_two_that_find_a_dead_lock_only_one_removes_it(storage):
    entry = leave(storage)
    claim = f"{LOCK}.{entry['token']}"
    storage.create(claim, json.dumps({**entry, "host": "elsewhere"}).encode())  # the other is removing it now
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", locking(wait_time_ms=1000)):
        pytest.fail("two writers at once")
    storage.delete(claim)
    storage.create(claim, json.dumps(entry).encode())  # the other has died, too
    with table_lock(storage, FakeClock(), "clean", NO_WAIT):
        assert json.loads(storage.read(LOCK))["purpose"] == "clean"
    assert storage.info(claim) is None


def test_many_that_died_one_after_the_other_while_they_removed_a_dead_lock(tmp_path, storage):
    """A program that is killed at each start makes a claim to the claim of the one before."""
    entry = leave(storage)
    deaths = []

    class Dying(LocalStorage):
        """Dies when it has claimed, as another process."""

        def create(self, path, data):
            if path.startswith(f"{LOCK}."):
                super().create(path, json.dumps({**entry, "token": uuid4().hex}).encode())
                deaths.append(path)
                raise KeyboardInterrupt
            super().create(path, data)

    for _ in range(12):
        with pytest.raises(KeyboardInterrupt), table_lock(Dying(storage.base_path), FakeClock(), "clean", NO_WAIT):
            pytest.fail("it died before")
    assert len(set(deaths)) == 12
    with table_lock(storage, FakeClock(), "clean", NO_WAIT):
        assert json.loads(storage.read(LOCK))["purpose"] == "clean"
    assert lying(storage) == {}


def test_a_lock_that_was_taken_over_meanwhile_is_not_removed(storage):
    leave(storage)

    class Late(LocalStorage):
        """Between the look at the dead lock and its removal another waiter has come."""

        def create(self, path, data):
            super().create(path, data)
            if path.startswith(f"{LOCK}."):
                self.delete(LOCK)
                super().create(LOCK, b"another's")

    with pytest.raises(LockHeldError), table_lock(Late(storage.base_path), FakeClock(), "clean", NO_WAIT):
        pytest.fail("two writers at once")
    assert storage.read(LOCK) == b"another's"


def test_a_process_that_cannot_be_looked_at_is_not_dead(storage, monkeypatch):
    leave(storage, pid=1, started="12")
    monkeypatch.setattr("hoodie.transaction.locks.owner._started", lambda pid: "")  # /proc with hidepid
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", NO_WAIT):
        pytest.fail("took a living writer's lock")


def test_a_process_of_another_container_is_not_dead(storage):
    leave(storage, namespace="pid:[1]")
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", NO_WAIT):
        pytest.fail("took a lock of which nothing is known")


def test_a_lock_from_before_a_restart_is_taken_over_only_on_the_same_machine(storage, monkeypatch):
    monkeypatch.setattr("hoodie.transaction.locks.owner._machine_id", lambda: "this one")
    entry = leave(storage, boot="an earlier one", machine="another one of this name")
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", NO_WAIT):
        pytest.fail("took a living writer's lock")
    for unknown in ("machine", "boot"):
        storage.delete(LOCK)
        storage.create(LOCK, json.dumps({**entry, "machine": "this one", unknown: ""}).encode())
        with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", NO_WAIT):
            pytest.fail("took a lock of which nothing is known")
    storage.delete(LOCK)
    storage.create(LOCK, json.dumps({**entry, "machine": "this one"}).encode())
    with table_lock(storage, FakeClock(), "clean", NO_WAIT):
        pass


def test_of_two_that_find_a_dead_lock_and_its_dead_claimant_only_one_removes_it(storage):
    entry = leave(storage)
    claim = f"{LOCK}.{entry['token']}"
    storage.create(claim, json.dumps({**entry, "token": "claimant"}).encode())
    looked, deleting, taken = Event(), Event(), Event()

    class First(LocalStorage):
        """Is about to delete the dead claim when the second comes."""

        def delete(self, path):
            if path == claim and not looked.is_set():
                looked.set()
                deleting.wait(0.5)
            return super().delete(path)

    class Second(LocalStorage):
        """Is about to delete the dead lock, which it has claimed, when the first goes on."""

        def delete(self, path):
            if path == LOCK and not deleting.is_set():
                deleting.set()
                taken.wait(0.5)
            return super().delete(path)

    def first():
        with table_lock(First(storage.base_path), FakeClock(), "clean", NO_WAIT):
            taken.set()
            done.wait(5)

    def second():
        with table_lock(Second(storage.base_path), FakeClock(), "upsert", NO_WAIT):
            done.wait(5)

    done = Event()
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first)
        assert looked.wait(5)
        other = pool.submit(second)
        time.sleep(1)
        done.set()
        held = [each.exception() is None for each in (one, other)]
    assert held.count(True) == 1, "two writers at once"


def test_a_lock_from_another_machine_is_respected(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", NO_WAIT):
        entry = json.loads(storage.read(LOCK))
    storage.create(LOCK, json.dumps({**entry, "host": "elsewhere"}).encode())
    with pytest.raises(LockHeldError, match="elsewhere"), table_lock(storage, clock, "clean", NO_WAIT):
        pytest.fail("took a foreign lock")


@pytest.mark.format("11l")
def test_a_living_writer_without_lock_is_seen_by_its_heartbeat(tmp_path):
    """Hudi's writers with lazy cleaning beat every minute: their pending commit is not ours to roll back."""
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "insert")
    from hoodie.timeline import Action
    from hoodie.transaction import instants

    state = table.state()
    instants.start(state, instants.request(state, "20260101000100000", Action.COMMIT))
    table.storage.create(".hoodie/.heartbeat/20260101000100000", b"")
    beat = table.storage.info(".hoodie/.heartbeat/20260101000100000").modified_ms / 1000
    clock.time = clock.time.fromtimestamp(beat + 30, clock.time.tzinfo)
    with pytest.raises(PendingInstantError, match="30 s old"):
        table.write(batch([("b", "p", 1, 1)]), "insert")
    clock.time = clock.time.fromtimestamp(beat + 300, clock.time.tzinfo)
    table.write(batch([("b", "p", 1, 1)]), "insert")
    assert set(content(table)) == {"a", "b"}
    assert table.timeline.pending == ()

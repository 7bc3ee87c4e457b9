"""A lock that runs out: renewed by who lives, taken over from who does not, lost by who was stopped for too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, CorruptTableError, HoodieError, LockHeldError, LockLostError
from hoodie.storage import LocalStorage, open_storage
from hoodie.transaction.locks import table_lock, verify_held
from hoodie.transaction.locks.base import Patience
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.locks.lease import TABLE_LOCK, LeaseLock
from hoodie.write.execute import WriteHooks
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.locks import NO_WAIT, locking, lying
from tests.support.stopped import stopped
from tests.support.tables import batch, content, create
from tests.support.waiting import until

LEASE = locking(provider="StorageBasedLockProvider")
OPTIONS = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"}
HUDIS = '{"expired":%s,"validUntil":%d,"owner":"6a1f9a51-2a07-4d6b-a0f6-5d1f3c1b9d2e"}'


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


def lock_file(storage):
    return json.loads(storage.read(TABLE_LOCK))


def by_hudi(storage, clock, seconds, expired=False):
    """The lock of a writer of Hudi's, valid for `seconds` more."""
    until = int((clock.time.timestamp() + seconds) * 1000)
    storage.create(TABLE_LOCK, (HUDIS % (str(expired).lower(), until)).encode())


def elsewhere(storage):
    """Make the owner one of another machine, of which nothing is known."""
    file = lock_file(storage)
    owner = {**json.loads(file["owner"]), "host": "elsewhere"}
    storage.delete(TABLE_LOCK)
    storage.create(TABLE_LOCK, json.dumps({**file, "owner": json.dumps(owner)}).encode())


def test_the_file_is_as_hudi_writes_it(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", LEASE):
        text, file = storage.read(TABLE_LOCK).decode(), lock_file(storage)
        assert text.startswith('{"expired":false,"validUntil":')
        assert list(file) == ["expired", "validUntil", "owner"]
        assert file["validUntil"] == pytest.approx(clock.time.timestamp() * 1000 + 300_000, abs=100)
        assert "upsert" in file["owner"]
        assert list(lying(storage)) == [TABLE_LOCK]
    assert lock_file(storage) == {**file, "expired": True}, "given back, and kept"
    assert lying(storage) == {}
    with table_lock(storage, clock, "clean", LEASE):
        assert lock_file(storage)["owner"] != file["owner"]


def test_a_second_writer_waits_and_is_told_who_holds_the_lock(storage):
    clock = FakeClock()
    with (
        table_lock(storage, clock, "upsert", LEASE),
        pytest.raises(LockHeldError, match=rf"waited 5 s.*pid {os.getpid()} on host .*\(upsert\), for 29. s more"),
        table_lock(storage, clock, "clean", locking(provider="StorageBasedLockProvider", wait_time_ms=5000)),
    ):
        pytest.fail("two writers at once")


def test_a_writer_of_hudis_is_waited_for_until_its_lock_runs_out(storage):
    clock = FakeClock()
    by_hudi(storage, clock, 300)
    with pytest.raises(LockHeldError, match="6a1f9a51"), table_lock(storage, clock, "clean", LEASE):
        pytest.fail("two writers at once")
    clock.time += timedelta(seconds=305)  # its clock may be slow
    with pytest.raises(LockHeldError), table_lock(storage, clock, "clean", LEASE):
        pytest.fail("two writers at once")
    clock.time += timedelta(seconds=6)
    with table_lock(storage, clock, "clean", LEASE):
        assert "clean" in lock_file(storage)["owner"]


def test_a_lock_that_hudi_gave_back_is_free(storage):
    clock = FakeClock()
    by_hudi(storage, clock, 300, expired=True)
    with table_lock(storage, clock, "clean", LEASE):
        pass


@pytest.mark.parametrize(
    "torn", [b"", b'{"expired":fal', b"[]", b'{"expired":0,"validUntil":1,"owner":"x"}', b"\xff\x00", b"[" * 100_000]
)
@pytest.mark.parametrize("provider", ["StorageBasedLockProvider", "FileSystemBasedLockProvider"])
def test_a_file_of_another_format_is_named_and_kept(storage, torn, provider):
    storage.create(TABLE_LOCK, torn)
    with (
        pytest.raises(CorruptTableError, match=r"table_lock\.json is not a file of a StorageBased.*unlock"),
        table_lock(storage, FakeClock(), "clean", locking(provider=provider)),
    ):
        pytest.fail("took a lock of which nothing is known")
    assert storage.read(TABLE_LOCK) == torn
    assert storage.info(LOCK) is None


def test_two_providers_on_one_table_are_told(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", LEASE):
        for other in (NO_WAIT, locking(provider="InProcessLockProvider")):
            with (
                pytest.raises(
                    ConfigError, match=r"Two lock providers.*here, and the lock .*table_lock\.json of a Stor"
                ),
                table_lock(storage, clock, "clean", other),
            ):
                pytest.fail("two writers at once")
    with table_lock(storage, clock, "clean", NO_WAIT):
        with (
            pytest.raises(ConfigError, match=r"Two lock providers.*here, and the lock \.hoodie/lock of a File"),
            table_lock(storage, clock, "upsert", LEASE),
        ):
            pytest.fail("two writers at once")
        assert lock_file(storage)["expired"]


@pytest.mark.parametrize(("validity", "renewal"), [(299, 30), (10, 2)])
def test_a_lock_that_runs_out_before_it_is_renewed_is_refused(validity, renewal):
    with pytest.raises(ConfigError, match=f"found: {validity} s, renewed every {renewal} s".replace("found", "Found")):
        locking(storage__validity__timeout__secs=validity, storage__renew__interval__secs=renewal)


def test_a_storage_without_conditional_replacement_is_refused():
    with (
        pytest.raises(ConfigError, match=r"StorageBasedLockProvider cannot lock memory://"),
        table_lock(open_storage("memory://lease/t"), FakeClock(), "upsert", LEASE),
    ):
        pytest.fail("a lock that two writers could hold")


def test_the_lock_of_a_process_that_has_ended_is_taken_over_at_once(tmp_path, storage):
    code = (
        "import os; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from tests.support.locks import locking; from hoodie.transaction.locks import table_lock\n"
        "held = locking(provider='StorageBasedLockProvider')\n"
        f"with table_lock(LocalStorage({str(tmp_path)!r}), SystemClock(), 'upsert', held):\n    os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9
    assert not lock_file(storage)["expired"]
    with table_lock(storage, SystemClock(), "clean", LEASE):
        pass


def test_a_lock_is_renewed_while_its_holder_lives(storage):
    lease = LeaseLock(storage, SystemClock(), 10, 0.05).acquire("upsert", Patience(SystemClock(), 0, 1))
    first = lock_file(storage)
    until(lambda: lock_file(storage)["validUntil"] != first["validUntil"])
    assert lock_file(storage) == {**first, "validUntil": lock_file(storage)["validUntil"]}
    lease.release()
    assert lock_file(storage)["expired"]
    assert not [thread for thread in threading.enumerate() if thread.name == "hudi-lock" and thread.is_alive()] or (
        time.sleep(0.2) is None
    )
    given_back = storage.read(TABLE_LOCK)
    time.sleep(0.2)
    assert storage.read(TABLE_LOCK) == given_back, "nobody renews it any more"


def test_who_was_stopped_for_too_long_completes_nothing(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "insert", OPTIONS)

    def stopped():
        clock.time += timedelta(seconds=311)  # while another machine's writer comes, works, and goes
        elsewhere(table.storage)
        with table_lock(table.storage, clock, "another's", LEASE):
            pass
        return {}

    with pytest.raises(LockLostError, match=r"was lost by upsert.*by now it is of pid .*another's"):
        table.write(batch([("b", "p", 1, 1)]), "upsert", OPTIONS, hooks=WriteHooks(before_commit=stopped))
    assert set(content(table)) == {"a"}
    assert len(table.timeline.pending) == 1, "what is pending may be the next holder's: it is not for the loser to undo"
    table.write(batch([("c", "p", 1, 1)]), "upsert", OPTIONS)
    assert set(content(table)) == {"a", "c"}
    assert table.timeline.pending == ()


def test_a_stop_between_the_last_look_and_the_commit_is_seen_after_it(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "insert", OPTIONS)
    other = create(tmp_path / "u", clock).storage  # any storage whose class can be changed

    class Stopped(type(other)):
        def create(self, path, data):
            if path.endswith(".commit") and "b" not in seen:
                seen.append("b")
                clock.time += timedelta(seconds=311)
                elsewhere(table.storage)
                table.write(batch([("c", "p", 1, 1)]), "upsert", OPTIONS)  # rolls the stopped write back
            super().create(path, data)

    seen = []
    from hoodie import HoodieTable

    stopped = HoodieTable.open(Stopped(table.base_path), clock=clock)
    with pytest.raises(LockLostError, match=r"completed too late.*rolled it back"):
        stopped.write(batch([("b", "p", 1, 1)]), "upsert", OPTIONS)
    assert set(content(table)) == {"a", "c"}


@pytest.mark.parametrize("late", [False, True])
def test_a_renewal_whose_answer_is_lost_is_ones_own(storage, late):
    """Also when it reaches the file only after it was looked for."""
    clock, put = FakeClock(), []

    class Lossy(LocalStorage):
        def replace(self, path, old, new):
            if put and put[0] is None:
                put[0] = (old, new)
                if not late:
                    super().replace(path, old, new)
                raise TimeoutError
            if put and late:
                super().replace(path, *put[0])
            return super().replace(path, old, new)

    lossy = Lossy(storage.base_path)
    lease = LeaseLock(lossy, clock, 300, 30).acquire("upsert", Patience(clock, 0, 1))
    put.append(None)
    if late:
        with pytest.raises(TimeoutError):
            lease.verify()
    lease.verify()
    lease.release()
    assert lock_file(storage)["expired"]


def test_a_lock_that_was_never_renewed_is_not_certain(storage):
    clock = FakeClock()
    lease = LeaseLock(storage, clock, 300, 30).acquire("upsert", Patience(clock, 0, 1))
    assert lease.certain()
    clock.time += timedelta(seconds=269)
    assert lease.certain()
    clock.time += timedelta(seconds=2)  # another's clock may be 30 s ahead
    assert not lease.certain()
    lease.verify()
    assert lease.certain()
    lease.release()


def test_killed_at_any_call_the_lock_is_free_for_the_next_in_time(tmp_path):
    """Taking, renewing and giving back, each killed before and after the call: no writer waits past the lock's time."""
    for half in (False, True):
        for fail_at in range(1, 50):
            path, clock = tmp_path / f"{half}{fail_at}", FakeClock()
            storage = FaultyStorage(path, fail_at, "kill", half)
            try:
                with table_lock(storage, clock, "upsert", LEASE):
                    verify_held()
            except Killed:
                again = LocalStorage(str(path))
                if again.info(TABLE_LOCK) is not None and not lock_file(again)["expired"]:
                    elsewhere(again)
                clock.time += timedelta(seconds=311)
                with table_lock(again, clock, "clean", LEASE):
                    pass
            else:
                break
        assert fail_at > 4


@pytest.mark.parametrize("kind", ["lost", "retried", "deaf", "full", "denied"])
def test_with_answers_lost_at_any_call_the_lock_is_ones_own_or_nobodys(tmp_path, kind):
    for fail_at in range(1, 50):
        path, clock = tmp_path / f"{fail_at}", FakeClock()
        storage = FaultyStorage(path, fail_at, kind)
        try:
            with table_lock(storage, clock, "upsert", LEASE):
                verify_held()
        except (OSError, HoodieError):
            pass
        if storage.calls < fail_at:
            return
        with table_lock(LocalStorage(str(path)), clock, "clean", LEASE):
            pass


def test_stopped_by_a_signal_a_process_loses_its_lock(tmp_path):
    """A real process, stopped (SIGSTOP) for longer than its lock is valid, goes on when another has the lock."""
    code = (
        "import sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from hoodie.errors import LockLostError\n"
        "from hoodie.transaction.locks.base import Patience; from hoodie.transaction.locks.lease import LeaseLock\n"
        f"lock = LeaseLock(LocalStorage({str(tmp_path)!r}), SystemClock(), 2, 0.2)\n"
        "lease = lock.acquire('upsert', Patience(SystemClock(), 0, 1)); print('held', flush=True); sys.stdin.readline()\n"
        "try:\n    lease.verify()\nexcept LockLostError:\n    print('lost', flush=True)"
    )
    with stopped(code) as go_on:
        time.sleep(0.3)
        storage, ahead = LocalStorage(str(tmp_path)), FakeClock(SystemClock().now() + timedelta(seconds=15))
        lease = LeaseLock(storage, ahead, 300, 30).acquire("clean", Patience(ahead, 0, 1))
        assert go_on() == "lost"
        lease.verify()
        lease.release()

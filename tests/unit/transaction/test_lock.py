"""One writer at a time: the lock shows its owner, outlives nobody that is certainly dead, and is broken only by hand."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from hoodie.errors import LockHeldError, PendingInstantError
from hoodie.storage import LocalStorage
from hoodie.transaction.lock import LOCK, break_lock, table_lock
from tests.support.clock import FakeClock
from tests.support.tables import batch, content, create


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


def test_a_second_writer_waits_and_is_told_who_holds_the_lock(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", 0):
        begun = clock.time
        with pytest.raises(LockHeldError) as caught, table_lock(storage, clock, "clean", 5000):
            pytest.fail("two writers at once")
        assert (clock.time - begun).total_seconds() >= 5
    text = str(caught.value)
    assert socket.gethostname() in text
    assert str(os.getpid()) in text
    assert "upsert" in text
    assert "s old" in text
    assert "hudi-services unlock" in text
    with table_lock(storage, clock, "clean", 0):
        pass
    assert storage.info(LOCK) is None


def test_the_lock_goes_also_when_the_block_fails(storage):
    with pytest.raises(ZeroDivisionError), table_lock(storage, FakeClock(), "upsert", 0):
        1 / 0  # noqa: B018
    assert storage.info(LOCK) is None


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path, storage):
    code = (
        "import os, sys; from hoodie.clock import SystemClock; from hoodie.storage import LocalStorage\n"
        "from hoodie.transaction.lock import table_lock\n"
        f"with table_lock(LocalStorage({str(tmp_path)!r}), SystemClock(), 'upsert', 0):\n    os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9
    assert storage.info(LOCK) is not None
    with table_lock(storage, FakeClock(), "clean", 0):
        assert json.loads(storage.read(LOCK))["purpose"] == "clean"


@pytest.mark.parametrize(
    "content", [b"", b"not json", json.dumps({"lockCreateTime": "x", "lockThreadName": "Hudi"}).encode()]
)
def test_a_lock_of_another_program_is_respected(storage, content):
    storage.create(LOCK, content)
    with pytest.raises(LockHeldError), table_lock(storage, FakeClock(), "clean", 1000):
        pytest.fail("took a foreign lock")
    assert storage.read(LOCK) == content
    assert break_lock(storage) == content.decode()
    assert break_lock(storage) is None


def test_a_lock_from_another_machine_is_respected(storage):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", 0):
        entry = json.loads(storage.read(LOCK))
    storage.create(LOCK, json.dumps({**entry, "host": "elsewhere"}).encode())
    with pytest.raises(LockHeldError, match="elsewhere"), table_lock(storage, clock, "clean", 0):
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

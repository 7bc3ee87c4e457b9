"""The locks of a table as people see them, and how they remove one that a process has left."""

from __future__ import annotations

import json
import os
import socket

import pytest

from hoodie.storage import LocalStorage
from hoodie.transaction.locks import break_lock, found_locks, service_lock, table_lock
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.locks.lease import TABLE_LOCK
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT, locking

LEASE = locking(provider="StorageBasedLockProvider")


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


@pytest.mark.parametrize(
    ("provider", "path", "left"),
    [(NO_WAIT, LOCK, None), (LEASE, TABLE_LOCK, 300)],
    ids=["file", "lease"],
)
def test_a_lock_tells_its_holder_age_and_end(storage, provider, path, left):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", provider), service_lock(storage, clock, "compaction-7", NO_WAIT):
        found = {lock.path: lock for lock in found_locks(storage, clock)}
    assert set(found) == {path, ".hoodie/.locks/compaction-7.lock"}
    assert found[path].kind == provider.provider
    assert found[path].alive is True
    assert (found[path].owner.pid, found[path].owner.host) == (os.getpid(), socket.gethostname())
    assert found[path].owner.purpose == "upsert"
    assert found[path].age is not None
    assert found[path].expires_in == (left and pytest.approx(left, abs=1))
    assert found_locks(storage, clock) == []


def changed(storage, path, **fields):
    """The lock as one of another process."""
    content = storage.read(path)
    storage.delete(path)
    entry = json.loads(content)
    if path == TABLE_LOCK:
        entry["owner"] = json.dumps({**json.loads(entry["owner"]), **fields})
    storage.create(path, json.dumps({**entry, **({} if path == TABLE_LOCK else fields)}).encode())


@pytest.mark.parametrize(("provider", "path"), [(NO_WAIT, LOCK), (LEASE, TABLE_LOCK)], ids=["file", "lease"])
@pytest.mark.parametrize(
    ("fields", "alive"),
    [({"host": "elsewhere"}, None), ({"namespace": "pid:[1]"}, None), ({"started": "1"}, False), ({"pid": 0}, None)],
)
def test_whether_a_holder_lives_is_known_of_this_machine_only(storage, provider, path, fields, alive):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", provider):
        changed(storage, path, **fields)
        (found,) = found_locks(storage, clock)
        assert found.alive is alive


@pytest.mark.parametrize(("provider", "path"), [(NO_WAIT, LOCK), (LEASE, TABLE_LOCK)], ids=["file", "lease"])
def test_a_lock_that_has_changed_hands_is_not_removed(storage, provider, path):
    clock = FakeClock()
    with table_lock(storage, clock, "upsert", provider):
        (found,) = found_locks(storage, clock)
    with table_lock(storage, clock, "clean", provider):
        assert not break_lock(storage, found)
        assert len(found_locks(storage, clock)) == 1
    assert not break_lock(storage, found)


def test_a_lock_that_is_renewed_meanwhile_is_removed(storage):
    owner = b'{"expired":false,"validUntil":%d,"owner":"x"}'
    storage.create(TABLE_LOCK, owner % 1)
    (found,) = found_locks(storage, FakeClock())
    assert found.alive is False, "its time is over"
    assert storage.replace(TABLE_LOCK, owner % 1, owner % 2)
    assert break_lock(storage, found)
    assert found_locks(storage, FakeClock()) == []


@pytest.mark.parametrize("torn", [b"", b"{", b"\xff"])
def test_a_torn_lock_can_be_seen_and_removed(storage, torn):
    for path in (LOCK, TABLE_LOCK):
        storage.create(path, torn)
    found = found_locks(storage, FakeClock())
    assert [(lock.path, lock.alive) for lock in found] == [(LOCK, None), (TABLE_LOCK, None)]
    assert all(break_lock(storage, lock) for lock in found)

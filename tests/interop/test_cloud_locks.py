"""The storage-based lock on servers of Google Cloud Storage and of Azure."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from hoodie.clock import SystemClock
from hoodie.errors import LockHeldError, LockLostError
from hoodie.storage import open_storage
from hoodie.transaction.locks import break_lock, found_locks, table_lock, verify_held
from hoodie.transaction.locks.base import Patience
from hoodie.transaction.locks.lease import TABLE_LOCK, LeaseLock
from hoodie.write.execute import WriteHooks
from tests.support.clouds import azure_server, gcs_server
from tests.support.locks import locking
from tests.support.matrix import other_server
from tests.support.tables import batch, content, create

pytestmark = pytest.mark.interop

GCS = pytest.mark.deep("the same lock on the other cloud's storage")
LEASE = locking(provider="StorageBasedLockProvider")


@pytest.fixture(scope="module", params=[pytest.param(gcs_server, marks=GCS), azure_server], ids=["gcs", "azure"])
def cloud(request):
    with request.param() as url:
        yield url


@pytest.fixture
def storage(cloud):
    return open_storage(f"{cloud}/{uuid.uuid4().hex}")


@other_server
def test_an_object_is_replaced_on_condition(storage):
    assert not storage.replace("a b#/ü%20", b"", b"new"), "not there"
    storage.create("a b#/ü%20", b"one")
    with pytest.raises(FileExistsError):
        storage.create("a b#/ü%20", b"two")
    assert not storage.replace("a b#/ü%20", b"another", b"two")
    assert storage.read("a b#/ü%20") == b"one"
    assert storage.replace("a b#/ü%20", b"one", b"two")
    assert storage.read("a b#/ü%20") == b"two"


@other_server
def test_of_many_at_once_one_replaces(storage):
    storage.create("lock", b"free")
    start = threading.Barrier(8)

    def takes(number):
        start.wait()
        return storage.replace("lock", b"free", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        won = [number for number, done in enumerate(pool.map(takes, range(8))) if done]
    assert [b"%d" % number for number in won] == [storage.read("lock")]


@other_server
def test_who_comes_between_look_and_request_is_not_overwritten(storage):
    storage.create("lock", b"one")
    content, tag = storage._read_tagged(storage._full("lock"))
    assert content == b"one"
    assert storage.replace("lock", b"one", b"two")
    with pytest.raises(FileExistsError):
        storage._put_tagged(storage._full("lock"), b"three", tag)
    storage.delete("lock")
    with pytest.raises((FileExistsError, FileNotFoundError)):
        storage._put_tagged(storage._full("lock"), b"three", tag)
    assert storage.info("lock") is None


@other_server
def test_a_lost_answer_is_looked_for(storage, monkeypatch):
    storage.create("lock", b"one")
    real = storage._put_tagged

    def sent_twice(*request):
        real(*request)
        real(*request)  # a client that got no answer: refused, as the object has changed

    monkeypatch.setattr(storage, "_put_tagged", sent_twice)
    assert storage.replace("lock", b"one", b"two")
    assert storage.read("lock") == b"two"


@other_server
def test_the_lock_is_hudis_file_and_excludes(storage):
    with table_lock(storage, SystemClock(), "upsert", LEASE):
        entry = json.loads(storage.read(TABLE_LOCK))
        assert list(entry) == ["expired", "validUntil", "owner"]
        assert not entry["expired"]
        with pytest.raises(LockHeldError, match="upsert"), table_lock(storage, SystemClock(), "clean", LEASE):
            pytest.fail("two writers at once")
        verify_held()
        assert len(found_locks(storage, SystemClock())) == 1
    assert json.loads(storage.read(TABLE_LOCK))["expired"]
    with table_lock(storage, SystemClock(), "clean", LEASE):
        pass


@other_server
def test_a_lock_that_was_taken_over_is_not_given_back(storage):
    lease = LeaseLock(storage, SystemClock(), 300, 30).acquire("upsert", Patience(SystemClock(), 0, 1))
    (found,) = found_locks(storage, SystemClock())
    assert break_lock(storage, found)
    with table_lock(storage, SystemClock(), "clean", LEASE):
        with pytest.raises(LockLostError, match="by now it is of pid"):
            lease.verify()
        lease.release()
        verify_held()


def test_a_table_is_written_under_it(storage):
    table = create(storage)
    options = {"hoodie.write.lock.provider": "StorageBasedLockProvider"}
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", options)
    table.write(batch([("a", "p", 2, 2)]), "upsert", options)

    def lose():
        storage.delete(TABLE_LOCK)
        return {}

    with pytest.raises(LockLostError):
        table.write(batch([("c", "p", 1, 1)]), "upsert", options, hooks=WriteHooks(before_commit=lose))
    assert content(table) == {"a": ("p", 2, 2), "b": ("p", 1, 1)}

"""Ours and Apache Hudi's StorageBasedLockProvider keep each other out of `table_lock.json`."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from hoodie.clock import SystemClock
from hoodie.errors import LockHeldError, LockLostError
from hoodie.storage import open_storage
from hoodie.transaction.locks import found_locks, table_lock, verify_held
from hoodie.transaction.locks.base import Patience
from hoodie.transaction.locks.lease import TABLE_LOCK, LeaseLock
from tests.interop.lock_peer import hudis_lock
from tests.support.clock import FakeClock
from tests.support.locks import locking

pytestmark = pytest.mark.interop

LEASE = locking(provider="StorageBasedLockProvider")


@pytest.fixture
def storage(s3):
    return open_storage(f"{s3.bucket()}/t")


def hudi(classes, s3, storage, validity=20, renewal=2):
    where = f"{s3.endpoint}/{storage.base_path.removeprefix('s3://')}/{TABLE_LOCK}"
    options = {
        "hoodie.base.path": storage.base_path,
        "hoodie.write.lock.storage.validity.timeout.secs": validity,
        "hoodie.write.lock.storage.renew.interval.secs": renewal,
    }
    return hudis_lock(classes, where, options)


def test_each_waits_for_the_other(classes, s3, storage):
    with hudi(classes, s3, storage) as ask:
        assert ask("lock 2000") == "true"
        assert list(json.loads(storage.read(TABLE_LOCK))) == ["expired", "validUntil", "owner"]
        with pytest.raises(LockHeldError, match="hudis-own-uuid"), table_lock(storage, SystemClock(), "clean", LEASE):
            pytest.fail("two writers at once")
        (found,) = found_locks(storage, SystemClock())
        assert (found.owner_text, found.alive) == ("hudis-own-uuid", None)
        assert ask("unlock") == "done"
        assert found_locks(storage, SystemClock()) == []
        with table_lock(storage, SystemClock(), "upsert", LEASE):
            assert ask("lock 1500") == "false"
            verify_held()
            assert ask("lock 100") == "false"
        assert ask("lock 2000") == "true"
        assert ask("unlock") == "done"


def test_the_lock_of_a_killed_writer_of_hudi_is_taken_over_in_time(classes, s3, storage):
    with hudi(classes, s3, storage, 10, 1) as ask:
        assert ask("lock 2000") == "true"
        ask("kill")
    killed = datetime.now(UTC)
    clock = FakeClock(killed)
    patient = locking(provider="StorageBasedLockProvider", wait_time_ms=40_000, wait_time_ms_between_retry=200)
    with table_lock(storage, clock, "clean", patient):
        assert 8 < (clock.now() - killed).total_seconds() < 30


def test_hudi_takes_over_the_lock_of_one_of_ours_that_was_stopped(classes, s3, storage):
    with hudi(classes, s3, storage) as ask:
        lease = LeaseLock(storage, SystemClock(), 3, 1000).acquire("upsert", Patience(SystemClock(), 0, 1))
        assert ask("lock 100") == "false"
        time.sleep(3.6)
        assert not lease.certain()
        assert ask("lock 2000") == "true"
        with pytest.raises(LockLostError, match="by now it is of hudis-own-uuid"):
            lease.verify()
        lease.release()
        assert not json.loads(storage.read(TABLE_LOCK))["expired"], "not ours to give back"
        assert ask("unlock") == "done"


def test_hudi_loses_a_lock_that_was_taken_over_from_it(classes, s3, storage):
    with hudi(classes, s3, storage) as ask:
        assert ask("lock 2000") == "true"
        (found,) = found_locks(storage, SystemClock())
        storage.delete(found.path)
        with table_lock(storage, SystemClock(), "clean", LEASE):
            time.sleep(2.5)  # Hudi's renewal is refused
            ask("unlock")
            assert "Unable to renew lock as it is acquired by others" in ask("log")
            verify_held()

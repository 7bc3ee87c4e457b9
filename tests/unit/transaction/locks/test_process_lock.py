"""A lock among threads: one writer of a table at a time, and no file that other processes would see."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hoodie.errors import LockHeldError
from hoodie.storage import LocalStorage
from hoodie.transaction.locks import table_lock
from tests.support.clock import FakeClock
from tests.support.locks import locking, lying

IN_PROCESS = locking(provider="InProcessLockProvider")


def hold(storage, wait=IN_PROCESS):
    with table_lock(storage, FakeClock(), "clean", wait):
        pytest.fail("two writers at once")


def test_another_thread_waits_and_is_told_who_holds_the_lock(tmp_path):
    storage = LocalStorage(str(tmp_path / "t"))
    with ThreadPoolExecutor(1) as pool:
        with table_lock(storage, FakeClock(), "upsert", IN_PROCESS):
            assert lying(storage) == {}
            with pytest.raises(LockHeldError, match=r"waited 3 s.*held by upsert in thread MainThread"):
                pool.submit(hold, storage, locking(provider="InProcessLockProvider", wait_time_ms=3000)).result()
            with table_lock(LocalStorage(str(tmp_path / "other")), FakeClock(), "upsert", IN_PROCESS):
                pass
        with table_lock(storage, FakeClock(), "clean", IN_PROCESS):
            pass


def test_a_table_has_one_lock_however_its_path_is_spelled(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "t")
    with (
        ThreadPoolExecutor(1) as pool,
        table_lock(LocalStorage(str(tmp_path / "t")), FakeClock(), "upsert", IN_PROCESS),
    ):
        for spelled in (f"{tmp_path}/x/../t", f"{tmp_path}/link", f"file:{tmp_path}//t/"):
            with pytest.raises(LockHeldError):
                pool.submit(hold, LocalStorage(spelled)).result()


def test_the_lock_goes_also_when_the_block_fails(tmp_path):
    storage = LocalStorage(str(tmp_path))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), table_lock(storage, FakeClock(), "upsert", IN_PROCESS):
            1 / 0  # noqa: B018

"""One lock for both writers: ours and Apache Hudi's FileSystemBasedLockProvider keep each other out of `.hoodie/lock`."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from hoodie import CLEAN
from hoodie.clock import SystemClock
from hoodie.errors import LockHeldError, PendingInstantError
from hoodie.transaction.locks import table_lock
from hoodie.transaction.locks.files import LOCK
from tests.interop.peer import PeerError
from tests.interop.shared_table import ALL, batch, both_at_once, create_shared, hudi_options, ids
from tests.support.locks import locking, lying
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

NO_WAIT = {"hoodie.write.lock.wait_time_ms": "0"}


@pytest.fixture(params=sample(["9", "6"], 0))
def table(request, tmp_path):
    return create_shared(tmp_path / "t", request.param)


ONE_VERSION = pytest.mark.parametrize("table", ["9"], indirect=True)  # the lock does not depend on it


def files(table):
    return {str(file) for file in Path(table.base_path).rglob("*") if file.is_file()}


def test_hudi_does_not_write_while_we_hold_the_lock(table, hudi12):
    with table_lock(table.storage, SystemClock(), "our write", locking()):
        before = files(table)
        with pytest.raises(PeerError, match="Unable to acquire the lock") as refusal:
            hudi12.write(table.base_path, batch("hudi"), hudi_options(table))
        assert "our write" in str(refusal.value), "Hudi shows who holds the lock"
        left = {file for file in files(table) - before if not file.endswith(".crc")}
        assert not [file for file in left if file.endswith((".parquet", ".commit"))]
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ["first"]
    hudi12.write(table.base_path, batch("hudi"), hudi_options(table))
    table.write(batch("ours"), "upsert", NO_WAIT)
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ["first", "hudi", "ours"]


@ONE_VERSION
def test_hudi_waits_for_us(table, hudi12):
    held, release = threading.Event(), threading.Event()

    def hold():
        with table_lock(table.storage, SystemClock(), "our write", locking()):
            held.set()
            release.wait(30)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(hold)
        assert held.wait(5)
        writing = pool.submit(hudi12.write, table.base_path, batch("hudi"), hudi_options(table, attempts=100))
        time.sleep(2)
        assert not writing.done()
        assert ids(table.read()) == ["first"]
        release.set()
        writing.result(60)
    assert ids(table.read()) == ["first", "hudi"]


@ONE_VERSION
def test_we_do_not_write_while_hudi_holds_the_lock(table, hudi12):
    """The lock file is as Hudi itself wrote it, caught while it held it. (On local disks 1.2.0 leaves it empty.)"""
    path = Path(table.base_path, LOCK)
    caught, done = [], threading.Event()

    def watch():
        while not done.is_set():
            with suppress(OSError):
                caught.append(path.read_text())
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    hudi12.write(table.base_path, batch("hudi"), hudi_options(table))
    done.set()
    watcher.join()
    assert caught, "Hudi 1.2.0 no longer locks by .hoodie/lock"
    assert not path.exists()

    path.write_text(caught[-1])  # as a writer leaves it that died, or is still at work
    shown = re.escape(" ".join(caught[-1].split()) or "(empty)")
    before = files(table)
    for refused in (lambda: table.write(batch("ours"), "upsert", NO_WAIT), lambda: table.run(CLEAN, NO_WAIT)):
        with pytest.raises(LockHeldError, match=f"lock {LOCK}, .* s old: {shown}"):
            refused()
    assert files(table) == before
    with pytest.raises(PeerError, match="Unable to acquire the lock"):
        hudi12.write(table.base_path, batch("more"), hudi_options(table))

    assert lying(table.storage) == {LOCK: caught[-1]}
    table.storage.delete(LOCK)
    table.write(batch("ours"), "upsert", NO_WAIT)
    hudi12.write(table.base_path, batch("more"), hudi_options(table))
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ["first", "hudi", "more", "ours"]


@pytest.mark.parametrize("table", sample(["9", "6"], 1), indirect=True)
def test_both_write_at_once(table, hudi12):
    """Each side repeats what was refused; no row is lost or doubled, and nothing is left pending."""

    def hudis(number):
        hudi12.write(table.base_path, batch(f"hudi{number}"), hudi_options(table, attempts=100))

    def ours(number):
        table.write(batch(f"ours{number}"), "upsert", {"hoodie.write.lock.wait_time_ms": "10000"})

    both_at_once(hudis, ours, PeerError, LockHeldError, PendingInstantError)
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ALL
    table.write(batch("last"), "upsert", NO_WAIT)
    assert not table.timeline.pending
    assert not Path(table.base_path, LOCK).exists()

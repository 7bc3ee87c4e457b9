"""Our optimistic writers beside Hudi 1.2.0's: what the other has begun stays, and who comes second to a file group loses."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hoodie.errors import LockHeldError, WriteConflictError
from tests.interop.peer import PeerError
from tests.interop.test_lock import batch, hudi_options, ids, table
from tests.support.rivals import OCC, Rival, shared

pytestmark = pytest.mark.interop
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
__all__ = ["table"]


def hudis(table):
    return {**hudi_options(table, attempts=100), "hoodie.parquet.small.file.limit": "0"}


def ours(*keys):
    return lambda table: table.write(batch(*keys), "upsert", APART)


def test_hudi_beside_our_living_writer(table, hudi12):
    """Its commit to other groups takes nothing of ours back; its commit to our group, before ours, stands against ours."""
    path = table.base_path
    one = Rival(path, ours("new")).begin()
    hudi12.write(path, batch("hudi"), hudis(table))
    assert len(table.timeline.pending) == 1
    assert one.finish() is None
    two, same = Rival(path, ours("first")).begin(), Rival(path, ours("both")).begin()
    hudi12.write(path, batch("first", "both"), hudis(table))
    error = two.finish()
    assert isinstance(error, WriteConflictError)
    assert table.timeline.commits[-1].time in str(error)
    assert isinstance(same.finish(), WriteConflictError), "a key that both insert"
    assert ids(table.read()) == ids(hudi12.read(path)) == ["both", "first", "hudi", "new"]
    assert not table.timeline.pending


def test_both_at_once(table, hudi12):
    """Hudi's write is under way while ours commit: those that it meets make it lose, and none is lost or doubled."""
    deadline = time.monotonic() + 90
    lost = []

    def persist(write, refusals, *numbers):
        for number in numbers:
            while time.monotonic() < deadline:
                try:
                    write(number)
                    break
                except refusals as error:
                    lost.append(error)

    def hudi_writes(number):
        hudi12.write(table.base_path, batch(f"hudi{number}", "first"), hudis(table))

    def we_write(number):
        ours(f"ours{number}", *(["first"] if number % 4 == 0 else []))(shared(table.base_path))

    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(persist, hudi_writes, PeerError, 1, 2),
            pool.submit(persist, we_write, (WriteConflictError, LockHeldError), *range(12)),
        ]
        for each in running:
            each.result()
    expected = sorted(["first", "hudi1", "hudi2", *(f"ours{number}" for number in range(12))])
    assert ids(table.read()) == expected
    assert ids(hudi12.read(table.base_path)) == expected
    assert all("onflict" in str(error) or "lost against" in str(error) for error in lost), lost

"""Our optimistic writers beside Hudi 1.2.0's: what the other has begun stays, and who comes second to a file group loses."""

from __future__ import annotations

import pytest

from hoodie.errors import LockHeldError, WriteConflictError
from tests.interop.peer import PeerError
from tests.interop.shared_table import ALL, batch, both_at_once, create_shared, hudi_options, ids
from tests.support.rivals import OCC, Rival, shared

pytestmark = pytest.mark.interop
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    return create_shared(tmp_path / "t", request.param)


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

    def hudi_writes(number):
        hudi12.write(table.base_path, batch(f"hudi{number}", "first"), hudis(table))

    def we_write(number):
        ours(f"ours{number}", *(["first"] if number % 4 == 0 else []))(shared(table.base_path))

    lost = both_at_once(hudi_writes, we_write, PeerError, WriteConflictError, LockHeldError)
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ALL
    assert all("onflict" in str(error) or "lost against" in str(error) for error in lost), lost

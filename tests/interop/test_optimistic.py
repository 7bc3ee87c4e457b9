"""Our optimistic writers beside Hudi 1.2.0's: what the other has begun stays, and who comes second to a file group loses."""

from __future__ import annotations

import pytest

from hoodie.errors import LockHeldError, PendingInstantError, WriteConflictError
from tests.interop.peer import PeerError
from tests.interop.shared_table import ALL, batch, both_at_once, create_shared, hudi_options, ids
from tests.support.matrix import sample
from tests.support.rivals import OCC, Rival, shared

pytestmark = pytest.mark.interop
APART = {**OCC, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=sample(["9", "6"], 0))
def table(request, tmp_path):
    return create_shared(tmp_path / "t", request.param)


def hudis(table):
    return {**hudi_options(table, attempts=100), "hoodie.parquet.small.file.limit": "0"}


def ours(*keys):
    return lambda table: table.write(batch(*keys), "upsert", APART)


def test_hudi_beside_our_living_writer(table, hudi12):
    """A commit of Hudi to other groups rolls back none of our work. A commit to our group, before ours, is a conflict."""
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


@pytest.mark.parametrize("table", sample(["9", "6"], 1), indirect=True)
def test_both_at_once(table, hudi12):
    """Hudi's write is under way while ours commit: those that it meets make it lose, and none is lost or doubled."""

    def hudi_writes(number):
        hudi12.write(table.base_path, batch(f"hudi{number}", "first"), hudis(table))

    def we_write(number):
        ours(f"ours{number}", *(["first"] if number % 4 == 0 else []))(shared(table.base_path))

    lost = both_at_once(hudi_writes, we_write, PeerError, WriteConflictError, LockHeldError)
    assert ids(table.read()) == ids(hudi12.read(table.base_path)) == ALL
    assert all("onflict" in str(error) or "lost against" in str(error) for error in lost), lost


def cluster(hudi12, table, op, instant=None):
    """Hudi's procedure, as a writer of the same lock."""
    given = {**hudis(table), "hoodie.clustering.plan.strategy.small.file.limit": 10_000_000}
    options = ",".join(f"{key}={value}" for key, value in given.items() if value != "")
    which = f", instants => '{instant}'" if instant else ""
    return hudi12.sql(f"call run_clustering(path => '{table.base_path}', op => '{op}'{which}, options => '{options}')")


@pytest.mark.parametrize("written", [False, True], ids=["begun", "written"])
def test_a_clustering_that_hudi_runs_while_we_write(table, hudi12, written):
    """It replaces the groups that we change: ours loses, and a new attempt finds the rows in the clustering's files."""
    path = table.base_path
    for key in ("second", "third"):
        table.write(batch(key), "upsert", APART)
    same = Rival(path, ours("first"), written=written).begin()
    other = Rival(path, ours("new"), written=written).begin()
    assert len(cluster(hudi12, table, "scheduleAndExecute")) == 1
    error = same.finish()
    assert isinstance(error, WriteConflictError), error
    assert table.timeline.commits[-1].time in str(error)
    assert other.finish() is None, "a group of its own is nobody else's"
    ours("first", "later")(table)
    assert ids(table.read()) == ids(hudi12.read(path)) == ["first", "later", "new", "second", "third"]
    assert not table.timeline.pending


def test_a_clustering_that_hudi_has_only_planned(table, hudi12):
    """A write that changes its groups loses, as Hudi's own does; Hudi carries it out afterwards, beside what we have added."""
    path = table.base_path
    for key in ("second", "third"):
        table.write(batch(key), "upsert", APART)
    begun = Rival(path, ours("first")).begin()
    cluster(hudi12, table, "schedule")
    (plan,) = (pending.time for pending in table.timeline.pending if pending.state.name == "REQUESTED")
    assert isinstance(begun.finish(), WriteConflictError)
    with pytest.raises(PendingInstantError, match="waits for clustering"):
        ours("first")(table)
    with pytest.raises(PeerError, match="pending clustering"):
        hudi12.write(path, batch("first"), hudis(table))
    ours("new")(table)
    assert len(cluster(hudi12, table, "execute", plan)) == 1
    ours("first", "later")(table)
    assert ids(table.read()) == ids(hudi12.read(path)) == ["first", "later", "new", "second", "third"]
    (left,) = table.timeline.pending
    assert plan < left.time, "of Hudi's refused write, whose heartbeat lives"

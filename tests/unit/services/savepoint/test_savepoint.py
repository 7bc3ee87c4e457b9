"""Savepoints: what they keep, of which commits there can be one, and what cleans do beside them."""

from __future__ import annotations

import pytest

from hoodie import CLEAN
from hoodie.errors import CorruptTableError, NoSavepointError, PendingInstantError, SavepointError
from hoodie.model.restore import RestorePlan
from hoodie.services.blockers import Hold, blockers_of
from hoodie.timeline import Action, State
from hoodie.timeline.codecs.restore import encode_restore_plan
from hoodie.transaction import instants
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.view.savepoints import savepoints
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

RETAIN_ONE = {"hoodie.clean.commits.retained": 1}


@pytest.fixture
def table(empty, templates):
    return templates.filled(empty, _fill)


def _fill(empty):
    empty.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    empty.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)


def states(table):
    folder = table.state().layout.folder
    return sorted(file.name for file in table.storage.list(folder).files if ".savepoint" in file.name)


def test_a_savepoint_of_the_last_commit(table, version):
    last = table.timeline.commits[-1]
    made = table.savepoint(user="jo", comments="before the migration — ä")
    assert made.instant == last.time
    assert (made.by, made.comments) == ("jo", "before the migration — ä")
    assert table.savepoints() == [made]
    assert sorted(made.paths) == sorted(path for each in table.file_slices() for path in each.paths)
    done = table.timeline.completed(Action.SAVEPOINT)[0]
    name = f"{last.time}.savepoint" if version == "6" else f"{last.time}_{done.completion_time}.savepoint"
    assert states(table) == sorted([f"{last.time}.savepoint.inflight", name])
    table.delete_savepoint(last.time)
    assert states(table) == []
    assert table.savepoints() == []


def test_of_an_older_commit_only_its_own_files(table):
    first = table.timeline.commits[0].time
    later = {path for each in table.file_slices() for path in each.paths}
    made = table.savepoint(first)
    assert len(set(made.paths)) >= 2
    if table.properties.table_type == "COPY_ON_WRITE" or table.version > 6:
        written = table.state().commit_metadata(table.timeline.commits[1]).stats
        assert not {stat.path for stat in written} & set(made.paths)
    assert set(made.paths) != later or table.version == 6


def test_what_can_have_no_savepoint(table, tmp_path):
    first, last = (commit.time for commit in table.timeline.commits)
    with pytest.raises(SavepointError, match="has no commit 20200101000000000 on its timeline"):
        table.savepoint("20200101000000000")
    table.savepoint(last)
    with pytest.raises(SavepointError, match="has a savepoint already"):
        table.savepoint()
    with pytest.raises(NoSavepointError, match=f"its savepoints are {last}"):
        table.delete_savepoint(first)
    empty = create(tmp_path / "e", FakeClock())
    with pytest.raises(SavepointError, match="no commit to make a savepoint of"):
        empty.savepoint()
    with pytest.raises(ValueError, match="is not an instant"):
        table.savepoint("../../x")


@pytest.mark.parametrize("policy", ["KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS"])
def test_a_commit_that_a_clean_may_have_touched_can_have_none(tmp_path, version, policy):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    for step in range(3):
        made.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    options = {"hoodie.clean.policy": policy, "hoodie.clean.fileversions.retained": 1, **RETAIN_ONE}
    made.run(CLEAN, options)
    commits = [commit.time for commit in made.timeline.commits]
    with pytest.raises(SavepointError, match="may have lost files to a clean"):
        made.savepoint(commits[0])
    assert made.savepoint(commits[2]).instant == commits[2]


def test_the_cleaner_keeps_the_files_of_a_savepoint_and_takes_them_once_it_is_deleted(table):
    """They are kept also in partitions without later writes: only the savepoint kept their files."""
    saved = table.timeline.commits[-1].time
    expected = content(table)
    kept = set(table.savepoint().paths)
    for step in range(3, 6):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
        table.run(CLEAN, RETAIN_ONE)
    assert content(table, as_of=saved) == expected
    assert all(table.storage.info(path) is not None for path in kept)
    latest = content(table)
    table.delete_savepoint(saved)
    decision = table.explain(CLEAN, RETAIN_ONE)
    assert f"savepoint {saved} was deleted" in decision.reason
    table.run(CLEAN, RETAIN_ONE)
    assert content(table) == latest
    if table.properties.table_type == "COPY_ON_WRITE":
        assert any(table.storage.info(path) is None for path in kept)


def test_one_that_is_deleted_while_a_clean_is_planned_is_none(table):
    """The plan is made without the lock, from a timeline that was listed before."""
    saved = table.savepoint().instant
    state = table.state()
    table.delete_savepoint(saved)
    assert savepoints(state) == []
    (held,) = state.timeline.completed(Action.SAVEPOINT)
    (blocker,) = blockers_of([Hold(held, "2 files", "which keeps them")], state, table.clock, ConcurrencyOptions())
    assert blocker.owner is None


def test_a_restore_under_way_stands_in_the_way(table):
    instants.start(
        table.state(),
        instants.request(table.state(), "20270101000000000", Action.RESTORE, encode_restore_plan(RestorePlan("1", ()))),
    )
    with pytest.raises(
        PendingInstantError, match=r"A restore of table.*run `hudi-services restore --savepoint 1` again"
    ):
        table.savepoint()


def test_a_torn_savepoint_is_an_error_that_names_it(table):
    table.savepoint()
    path = table.state().layout.path(table.timeline.completed(Action.SAVEPOINT)[0])
    body = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, body[: len(body) // 2])
    with pytest.raises(CorruptTableError, match="savepoint"):
        table.savepoints()
    with pytest.raises(CorruptTableError, match="savepoint"):
        table.run(CLEAN, RETAIN_ONE)


def test_an_unfinished_savepoint_is_none_and_can_be_made(table):
    last = table.timeline.commits[-1].time
    table.storage.create(table.state().layout.inflight_path(last, Action.SAVEPOINT), b"")
    assert table.savepoints() == []
    assert [i.state for i in table.timeline if i.action is Action.SAVEPOINT] == [State.INFLIGHT]
    table.write(batch([("c", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    assert table.savepoint(last).instant == last

"""Rolling back one instant by hand: which may be, what goes, what stays."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, HoodieTable, Rollback
from hoodie.config.groups import ROLLBACK_OPTIONS
from hoodie.config.key import resolve
from hoodie.errors import LockHeldError, LockLostError, PendingInstantError, RollbackError
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.storage import walk_files
from hoodie.timeline import Action, State
from hoodie.transaction import concurrency, instants
from hoodie.transaction.concurrency import plan_lock
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks import Locking
from hoodie.transaction.reconcile import delete_markers
from hoodie.transaction.recovery import recoveries
from hoodie.transaction.rollback import plan_rollback, request_rollback
from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.interleaving import Stopped
from tests.support.tables import SMALL_BLOOM, batch, content, create

LOCKING = Locking.of(resolve({}, ROLLBACK_OPTIONS.keys))
LATER = "20270101000000000"
LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture
def table(empty, templates):
    return templates.filled(empty, _fill)


def _fill(empty):
    empty.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", LOGS)
    empty.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    empty.write(batch([("a", "p", 3, 3), ("c", "p", 3, 3)]), "upsert", LOGS)


def test_the_last_commit_goes_and_then_the_one_before(table):
    first, second, last = (commit.time for commit in table.timeline.commits)
    with pytest.raises(RollbackError, match=f"1 commit came after it, the last {last}"):
        table.explain(Rollback(second))
    decision = table.explain(Rollback(last))
    assert decision.facts["noted_and_not_there"] == 0
    assert len(decision.items) == decision.plan.count > 0
    done = table.run(Rollback(last))
    assert done.files_deleted == decision.plan.count
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}
    assert all(table.storage.info(item.path) is None for item in decision.items)
    assert [i.action for i in table.timeline if i.time == done.instant] == [Action.ROLLBACK]
    table.run(Rollback(second))
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 1, 1)}
    table.write(batch([("a", "p", 9, 9)]), "upsert", LOGS)
    assert content(table) == {"a": ("p", 9, 9), "b": ("q", 1, 1)}
    with pytest.raises(RollbackError, match=f"no write or plan {last}"):
        table.run(Rollback(last))
    assert first == table.timeline.commits[0].time


def test_not_one_with_a_savepoint(table):
    last = table.savepoint().instant
    with pytest.raises(RollbackError, match="it has a savepoint"):
        table.run(Rollback(last))


def test_not_one_whose_predecessor_a_clean_removed(tmp_path, version):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    for step in range(3):
        made.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    made.run(CLEAN, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1})
    rows = content(made)
    with pytest.raises(RollbackError, match="which it superseded"):
        made.run(Rollback(made.timeline.commits[-1].time))
    assert content(made) == rows


def test_not_one_whose_predecessor_was_cut_short(table):
    last = table.timeline.commits[-1].time
    (path,) = [s.base_file.path for s in table.file_slices() if s.partition == "part=q"]
    kept = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, kept[:-9])
    with pytest.raises(RollbackError, match="was cut short"):
        table.run(Rollback(last))


def test_a_failed_write_is_explained_with_its_files_and_goes(table):
    rows = content(table)
    state = table.state()
    begun = instants.start(state, instants.request(state, LATER, state.timeline.commits[-1].action))
    stray = f"part=p/11111111-1111-1111-1111-111111111111-0_0-0-0_{LATER}.parquet"
    table.storage.create(stray, b"x")
    table.storage.create(f".hoodie/.temp/{LATER}/part=q/2_0-0-0_{LATER}.parquet.marker.CREATE", b"")
    decision = table.explain(Rollback(LATER))
    assert decision.facts["found_without_marker"] == 1
    assert decision.facts["noted_and_not_there"] == 1
    assert "found, without a marker" in decision.as_text("rollback")
    assert table.storage.info(state.layout.path(begun)) is not None
    with recoveries() as told:
        table.run(Rollback(LATER))
    assert any(f"rolled back instant {LATER}" in line for line in told)
    assert table.storage.info(stray) is None
    assert table.timeline.pending == ()
    assert content(table) == rows


def test_what_was_begun_of_a_compaction_goes_and_its_plan_stays(tmp_path, version):
    made = create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    )
    made.write(batch([("a", "p", 1, 1)]), "insert", LOGS)
    made.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    last = made.timeline.commits[-1].time
    time = made.schedule(COMPACTION, force=True)
    assert made.run(Rollback(time)).instant is None
    with pytest.raises(RollbackError, match=f"compaction {time} was planned after it"):
        made.run(Rollback(last))
    state = made.state()
    instants.start(state, next(i for i in state.timeline.pending if i.time == time))
    stray = f"part=p/{made.file_slices()[0].file_id}_0-0-0_{time}.parquet"
    made.storage.create(stray, b"x")
    assert "its plan stays" in made.explain(Rollback(time)).as_text("rollback")
    assert made.run(Rollback(time)).files_deleted == 1
    assert made.storage.info(stray) is None
    assert [(i.time, i.state) for i in made.timeline.pending] == [(time, State.REQUESTED)]
    made.run(COMPACTION)
    assert content(made) == {"a": ("p", 2, 2)}
    made.run(Rollback(time))
    assert made.timeline.pending == ()
    assert content(made) == {"a": ("p", 2, 2)}
    made.run(Rollback(last))
    assert content(made) == {"a": ("p", 1, 1)}


@pytest.mark.parametrize(("kind", "version"), [(COMPACTION, "6"), (COMPACTION, "9"), (LOG_COMPACTION, "9")])
def test_a_write_between_a_plan_and_its_completion_goes_before_what_the_plan_made(tmp_path, version, kind):
    """The logs of the write belong to the base file of a compaction, which is kept until they are gone."""
    table = create(
        tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
    )
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", LOGS)
    table.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    table.write(batch([("a", "p", 3, 3)]), "upsert", LOGS)
    threshold = {"hoodie.log.compaction.blocks.threshold": 2} if kind is LOG_COMPACTION else {}
    planned = table.schedule(kind, threshold, force=kind is COMPACTION)
    written = table.write(batch([("b", "p", 4, 4), ("c", "r", 4, 4)]), "upsert", LOGS).instant.time
    table.run(kind, SMALL_BLOOM)
    with pytest.raises(RollbackError, match=f"1 commit came after it, the last {written}"):
        table.run(Rollback(planned))
    table.run(Rollback(written))
    rows = {"a": ("p", 3, 3), "b": ("p", 1, 1)}
    assert content(table) == rows
    assert table.diagnose().findings == ()
    table.run(Rollback(planned))
    assert content(table) == rows
    assert table.timeline.pending == ()
    table.write(batch([("b", "p", 5, 5)]), "upsert", LOGS)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == {"a": ("p", 3, 3), "b": ("p", 5, 5)}


def test_the_command(table, capsys):
    last = table.timeline.commits[-1].time
    flags = [f"--target-base-path={table.base_path}", f"--instant={last}"]
    assert main(["rollback", *flags, "--json"]) == 2
    assert main(["rollback", *flags, "--explain"]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert main(["rollback", *flags, "--yes"]) == 0
    assert f"{last} and" in capsys.readouterr().out
    assert main(["rollback", *flags, "--yes"]) == 1
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}


def test_a_torn_plan_of_a_rollback_is_moved_aside_and_told(table):
    rows = content(table)
    instants.request(table.state(), LATER, Action.ROLLBACK, b"torn")
    with recoveries() as told:
        table.write(batch([("z", "p", 9, 9)]), "upsert", LOGS)
    (kept,) = walk_files(table.storage, ".hoodie/.quarantine")
    assert any(f"{LATER}.rollback.requested to {kept.path}" in line for line in told)
    assert table.storage.read(kept.path) == b"torn"
    assert content(table) == {**rows, "z": ("p", 9, 9)}
    assert table.timeline.pending == ()


@pytest.fixture
def compacted(tmp_path, version):
    """A merge-on-read table, and the instant of its compaction, which is complete."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    made = create(tmp_path / "t", FakeClock(), **options)
    made.write(batch([("a", "p", 1, 1)]), "insert", LOGS)
    made.write(batch([("a", "p", 2, 2)]), "upsert", LOGS)
    time = made.schedule(COMPACTION, force=True)
    made.run(COMPACTION)
    return made, time


def taken_back_halfway(table, time):
    """As a process leaves it that is stopped after the commit has gone."""
    state = table.state()
    done = next(i for i in state.timeline.commits if i.time == time)
    plan = plan_rollback(state, done)
    rollback = request_rollback(state, new_time(state, table.clock), plan)
    instants.start(state, rollback)
    table.storage.delete(state.layout.path(done))
    return rollback


def test_a_plan_that_is_being_taken_back_is_not_carried_out_again(compacted):
    table, time = compacted
    rollback = taken_back_halfway(table, time)
    with pytest.raises(PendingInstantError, match=f"{time} .*is being rolled back.*\n?.*rollback {rollback.time}"):
        table.run(COMPACTION)
    # As by a process that had begun before: the next write finishes the rollback, and takes that along.
    late = f"part=p/11111111-1111-1111-1111-111111111111-0_0-0-0_{time}.parquet"
    DirectMarkers(table.storage, time).create(late, MarkerType.MERGE)
    table.storage.create(late, b"late")
    table.write(batch([("b", "p", 3, 3)]), "upsert", LOGS)
    assert [i for i in table.timeline if i.time == time] == []
    assert not [f.path for f in walk_files(table.storage, "part=p") if time in f.path and f.path.endswith(".parquet")]
    assert content(table) == {"a": ("p", 2, 2), "b": ("p", 3, 3)}


def test_a_compaction_whose_plan_goes_meanwhile_is_not_committed(compacted, monkeypatch):
    table, time = compacted
    table.run(Rollback(time))
    time = table.schedule(COMPACTION, force=True)
    real = concurrency.table_lock

    def lock(storage, clock, purpose, locking):
        if purpose.startswith("complete"):  # its markers have gone with the plan, and its inflight file has come back
            storage.delete(table.state().layout.requested_path(time, Action.COMPACTION))
            delete_markers(storage, time)
        return real(storage, clock, purpose, locking)

    monkeypatch.setattr(concurrency, "table_lock", lock)
    with pytest.raises(PendingInstantError, match="has no plan any more"):
        table.run(COMPACTION)
    assert not [f.path for f in walk_files(table.storage, "part=p") if time in f.path and f.path.endswith(".parquet")]
    assert content(table) == {"a": ("p", 2, 2)}


def test_a_compaction_that_is_carried_out_is_not_taken_back_meanwhile(compacted):
    table, time = compacted
    with plan_lock(table.storage, table.clock, time, LOCKING), pytest.raises(LockHeldError):
        table.run(Rollback(time))
    table.run(Rollback(time))
    assert [i for i in table.timeline if i.time == time] == []


@pytest.mark.parametrize("at", [".rollback.requested", ".rollback.inflight"])
def test_a_lost_lock_says_what_has_begun_and_which_command_goes_on(tmp_path, at):
    table = create(Stopped(str(tmp_path / "t")), FakeClock())
    _fill(table)
    rows, last = content(table), table.timeline.commits[-1].time
    table.storage.at, table.storage.other = at, lambda: table.storage.delete(".hoodie/lock")
    with pytest.raises(LockLostError) as lost:
        table.run(Rollback(last))
    other = HoodieTable.open(table.base_path, clock=table.clock)
    begun = next((i.time for i in other.timeline.pending if i.action is Action.ROLLBACK), None)
    if begun is None:
        assert "run it again; nothing was completed" in str(lost.value)
        assert content(other) == rows
    else:
        assert f"run `hudi-services rollback --instant {last}` again: rollback {begun} has begun" in str(lost.value)
    other.run(Rollback(last))
    assert content(other) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}
    assert not other.timeline.pending

"""Restores: the files that go and that come back, the readers' view in the meantime, and the blockers."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable, Restore, Rollback
from hoodie.errors import (
    CorruptTableError,
    LockLostError,
    NoSavepointError,
    PendingInstantError,
    SavepointError,
    UnsafeDeleteError,
)
from hoodie.formats import avro_file
from hoodie.model.clean import CleanPlan
from hoodie.model.restore import RestorePlan
from hoodie.storage import walk_files
from hoodie.timeline import Action
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.timeline.codecs.restore import decode_restore_plan, encode_restore_plan
from hoodie.transaction import instants
from hoodie.transaction.recovery import recoveries
from tests.support.clock import FakeClock
from tests.support.interleaving import Stopped
from tests.support.tables import SMALL_BLOOM, batch, content, create

RETAIN_ONE = {"hoodie.clean.commits.retained": 1}
LATER = "20270101000000000"


@pytest.fixture
def table(empty):
    empty.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    empty.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    empty.savepoint()
    return empty


def saved(table):
    return table.savepoints()[0].instant


def position(table):
    last = table.timeline.commits[-1]
    return last.completion_time if table.version > 6 else last.time


def data_files(table):
    return {file.path for file in walk_files(table.storage, "") if not file.path.startswith(".hoodie")}


def change(table):
    table.write(batch([("a", "p", 3, 3), ("c", "r", 3, 3)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b", "q", 4, 4)]), "delete", SMALL_BLOOM)
    table.write(batch([("d", "p", 5, 5)]), "bulk_insert", SMALL_BLOOM)


def test_all_that_came_after_the_savepoint_goes(table):
    rows, files, times = content(table), data_files(table), [i.time for i in table.timeline.commits]
    change(table)
    gone = [i.time for i in table.timeline.commits][2:]
    decision = table.explain(Restore(saved(table)))
    assert [time for time, _ in decision.plan.instants] == gone[::-1]
    assert decision.facts["commits"] == 3
    assert decision.facts["rows_inserted"] == 2
    assert decision.facts["rows_deleted"] == 1
    assert len(table.timeline.commits) == 5, "explaining changes nothing"
    assert gone[0] in decision.as_text("restore")
    assert "nothing was changed" in decision.as_text("restore")
    done = table.run(Restore(saved(table)))
    assert [each.instant for each in done.result.rollbacks] == gone[::-1]
    assert content(table) == rows
    assert {path for path in data_files(table) if not path.endswith("hoodie_partition_metadata")} == {
        path for path in files if not path.endswith("hoodie_partition_metadata")
    }
    assert [i.time for i in table.timeline.commits] == times
    assert [i.action for i in table.timeline if i.action in (Action.ROLLBACK, Action.RESTORE)] == [Action.RESTORE]
    assert table.timeline.pending == ()
    name = table.timeline.completed(Action.RESTORE)[0]
    record = avro_file.decode(table.state().body(name), "restore")
    assert record["instantsToRollback"] == gone[::-1]
    assert set(record["hoodieRestoreMetadata"]) == set(gone)
    again = table.run(Restore(saved(table)))
    assert again.result is None
    assert "nothing came after" in again.decision.reason


def test_a_table_goes_on_after_a_restore_and_an_incremental_read_sees_what_is_new(table):
    change(table)
    """Its consumers do not hear of removed rows; new ones are later than any position they may have."""
    old = position(table)
    table.run(Restore(saved(table)))
    last = position(table)
    assert table.read_incremental(last).num_rows == 0
    table.write(batch([("e", "q", 9, 9)]), "upsert", SMALL_BLOOM)
    for start in (last, old):
        assert table.read_incremental(start)["id"].to_pylist() == ["e"]
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1), "e": ("q", 9, 9)}
    table.run(CLEAN, RETAIN_ONE)
    assert content(table, as_of=saved(table)) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}


def test_after_cleans_too(table):
    rows = content(table)
    for step in range(3, 7):
        table.write(batch([("a", "p", step, step), ("b", "q", step, step)]), "upsert", SMALL_BLOOM)
        table.run(CLEAN, RETAIN_ONE)
    table.run(Restore(saved(table)))
    assert content(table) == rows
    table.write(batch([("a", "p", 8, 8)]), "upsert", SMALL_BLOOM)
    table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, RETAIN_ONE)
    assert content(table) == {**rows, "a": ("p", 9, 9)}


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("carried_out", [True, False], ids=["done", "pending"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_compactions_go_with_their_plans_and_logs_after_them(tmp_path, version, carried_out, when):
    made = create(
        tmp_path / "t",
        FakeClock(),
        **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"},
    )
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
    made.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", options)
    made.write(batch([("a", "p", 2, 2)]), "upsert", options)
    if when == "before":
        planned = made.schedule(COMPACTION, force=True)
        made.write(batch([("b", "p", 3, 3)]), "upsert", options)
    rows = content(made)
    made.savepoint()
    made.write(batch([("a", "p", 4, 4)]), "upsert", options)
    if when == "after":
        planned = made.schedule(COMPACTION, force=True)
        made.write(batch([("a", "p", 5, 5), ("b", "p", 5, 5)]), "upsert", options)
    if carried_out:
        made.run(COMPACTION)
    made.write(batch([("a", "p", 6, 6)]), "upsert", options)
    made.run(Restore(saved(made)))
    assert content(made) == rows
    states = [i.time for i in made.timeline if i.action.completed_as is Action.COMMIT]
    assert states == ([planned] if when == "before" else [])
    made.write(batch([("b", "p", 7, 7)]), "upsert", options)
    made.schedule(COMPACTION, force=True)
    made.run(COMPACTION)
    assert content(made) == {**rows, "b": ("p", 7, 7)}


def test_readers_see_the_table_restored_from_the_first_act_on(table):
    rows = content(table)
    change(table)
    now = content(table)
    decision = table.explain(Restore(saved(table)))
    restore = instants.request(table.state(), LATER, Action.RESTORE, encode_restore_plan(decision.plan))
    assert content(table) == now
    instants.start(table.state(), restore)
    assert content(table) == rows
    assert table.file_slices() == [each for each in table.file_slices() if each.base_instant <= saved(table)]
    with recoveries() as told:
        table.write(batch([("z", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    assert any(f"ended restore {LATER}" in line for line in told)
    assert content(table) == {**rows, "z": ("p", 9, 9)}
    assert table.timeline.pending == ()


def test_a_later_savepoint_stands_in_the_way(table):
    change(table)
    second = table.savepoint().instant
    table.write(batch([("a", "p", 7, 7)]), "upsert", SMALL_BLOOM)
    with pytest.raises(SavepointError, match=f"savepoint {second} is of a later commit"):
        table.run(Restore(saved(table)))
    table.delete_savepoint(second)
    table.run(Restore(saved(table)))
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}


def test_what_else_stands_in_the_way(table):
    change(table)
    with pytest.raises(NoSavepointError, match=f"its savepoints are {saved(table)}"):
        table.explain(Restore(LATER))
    state = table.state()
    body = encode_clean_plan(CleanPlan("KEEP_LATEST_COMMITS", (), None, None, "", {}), table.base_path)
    clean = instants.request(state, LATER, Action.CLEAN, body)
    with pytest.raises(PendingInstantError, match="run `hudi-services clean`"):
        table.run(Restore(saved(table)))
    table.storage.delete(state.layout.path(clean))
    lost = next(iter(table.savepoints()[0].paths))
    table.storage.delete(lost)
    with pytest.raises(Exception, match="missing") as raised:
        table.run(Restore(saved(table)))
    assert lost in str(raised.value)
    assert len(table.timeline.commits) == 5


@pytest.mark.parametrize("begun", [True, False])
def test_a_torn_plan(table, begun):
    change(table)
    rows = content(table)
    plan = encode_restore_plan(table.explain(Restore(saved(table))).plan)
    restore = instants.request(table.state(), LATER, Action.RESTORE, plan[: len(plan) // 2])
    if begun:
        instants.start(table.state(), restore)
        assert content(table) == rows
        with pytest.raises(CorruptTableError, match=f"interrupted restore {LATER}"):
            table.write(batch([("z", "p", 9, 9)]), "upsert", SMALL_BLOOM)
        return
    with recoveries() as told:
        table.write(batch([("z", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    assert any(".quarantine" in line and LATER in line for line in told)
    (kept,) = walk_files(table.storage, ".hoodie/.quarantine")
    assert table.storage.read(kept.path) == plan[: len(plan) // 2]
    assert content(table) == {**rows, "z": ("p", 9, 9)}
    assert table.timeline.pending == ()


def test_plans_come_back_as_they_were():
    plan = RestorePlan("20260101000000000", (("20260102000000000", "commit"), ("20260101120000000", "compaction")))
    assert decode_restore_plan(encode_restore_plan(plan), "here") == plan
    hostile = avro_file.encode(
        "HoodieRestorePlan", {"instantsToRollback": [{"commitTime": "../x", "action": "commit"}], "version": 2}
    )
    with pytest.raises(Exception, match="digits only"):
        decode_restore_plan(hostile, "here")


def test_a_log_that_others_share_is_seen_before_a_restore_has_begun(tmp_path):
    """As one from before an upgrade of version 6, of a writer that appended: a restore that has begun could never end."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    saved = table.savepoint().instant
    last = table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM).instant
    first, second = (tmp_path / "t" / log.path for log in table.file_slices()[0].log_files)
    first.write_bytes(first.read_bytes() + second.read_bytes())
    second.unlink()
    commit = tmp_path / "t" / table.state().layout.path(last)
    commit.write_bytes(commit.read_bytes().replace(second.name.encode(), first.name.encode()))
    files = sorted(file.path for file in walk_files(table.storage, ""))
    for service in (Restore(saved), Rollback(last.time)):
        with pytest.raises(UnsafeDeleteError, match="it holds blocks of other instants"):
            table.run(service)
    assert table.timeline.pending == ()
    assert sorted(file.path for file in walk_files(table.storage, "")) == files


def test_a_lost_lock_says_what_has_begun_and_which_command_goes_on(tmp_path):
    table = create(Stopped(str(tmp_path / "t")), FakeClock())
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    rows, savepoint = content(table), table.savepoint().instant
    change(table)
    table.storage.at, table.storage.other = ".rollback.inflight", lambda: table.storage.delete(".hoodie/lock")
    with pytest.raises(LockLostError) as lost:
        table.run(Restore(savepoint))
    other = HoodieTable.open(table.base_path, clock=table.clock)
    (begun,) = (i.time for i in other.timeline.pending if i.action is Action.RESTORE)
    assert f"run `hudi-services restore --savepoint {savepoint}` again: restore {begun} has begun" in str(lost.value)
    assert content(other) == rows
    assert other.run(Restore(savepoint)).decision.plan is None
    assert not other.timeline.pending

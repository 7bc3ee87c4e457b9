"""Logs of version 6 that hold blocks of several instants: a rollback hides those of one, and deletes none of the others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import UnsafeDeleteError, UnsafePathError, UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.formats.log import BlockType, Header, encode_block, scan_blocks
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.model.rollback import RollbackPlan, SharedLogs
from hoodie.model.time import Time
from hoodie.services.rollback.service import Rollback
from hoodie.storage import walk_files
from hoodie.timeline import Action
from hoodie.timeline.codecs.rollback import encode_rollback_plan
from hoodie.transaction import instants
from hoodie.transaction.reconcile import reconcile_markers
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create

LATER = "20260601000000000"
BEFORE = {"a": ("p", 2, 2), "b": ("p", 1, 1)}
AFTER = {"a": ("p", 3, 3), "b": ("p", 3, 3)}


def made(path, version="6"):
    """Two delta commits in one log, as a writer that appends leaves them. Returns the table, the last instant, and the log."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(path, FakeClock(), engine=LocalEngine(1), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    last = table.write(batch([("a", "p", 3, 3), ("b", "p", 3, 3)]), "upsert", SMALL_BLOOM).instant
    (file_slice,) = table.file_slices()
    first, second = (log.path for log in file_slice.log_files)
    root = Path(path)
    with (root / first).open("ab") as log:
        log.write((root / second).read_bytes())
    (root / second).unlink()
    commit = root / ".hoodie" / last.file_name
    commit.write_text(commit.read_text().replace(second.rpartition("/")[2], first.rpartition("/")[2]))
    assert content(table) == AFTER
    return table, last.time, first


def unfinished(path):
    """The same, where the writer died before its second delta commit was complete."""
    table, time, log = made(path)
    (Path(path) / ".hoodie" / f"{time}.deltacommit").unlink()
    DirectMarkers(table.storage, time).create(log, MarkerType.APPEND)
    return table, time, log


def commands(table):
    """File name -> headers of its command blocks."""
    logs = [file.path for file in table.storage.list("part=p").files if ".log." in file.name]
    return {
        path.rpartition("/")[2]: dict(block.headers)
        for path in logs
        for block in scan_blocks(table.storage, path)
        if block.kind is BlockType.COMMAND
    }


@pytest.mark.format("6.5d")
def test_blocks_of_a_failed_write_are_hidden_and_those_beside_them_stay(tmp_path):
    table, time, log = unfinished(tmp_path / "t")
    before = table.storage.read(log)
    table.write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == {**BEFORE, "c": ("p", 4, 4)}
    assert table.storage.read(log) == before
    (rollback,) = table.timeline.completed(Action.ROLLBACK)
    name = log.rpartition("/")[2]
    base = name.partition(".log.")[0]
    assert commands(table) == {
        f"{base}.log.2_1-0-1": {
            Header.TARGET_INSTANT_TIME: time,
            Header.INSTANT_TIME: rollback.time,
            Header.COMMAND_BLOCK_TYPE: "0",
        }
    }
    state = table.state()
    record = avro_file.decode(state.body(rollback), "here")
    (partition,) = record["partitionMetadata"].values()
    assert record["totalFilesDeleted"] == 0
    assert partition["logFilesFromFailedCommit"] == {f"{table.base_path}/{log}": len(before)}
    assert list(partition["rollbackLogFiles"].values()) == [table.storage.info(f"part=p/{base}.log.2_1-0-1").size]
    table.write(batch([("a", "p", 5, 5)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 5, 5), "b": ("p", 1, 1), "c": ("p", 4, 4)}


def test_the_last_commit_is_taken_back_by_hand_and_it_is_explained(tmp_path):
    table, time, log = made(tmp_path / "t")
    explained = table.explain(Rollback(time))
    assert explained.plan.count == 0
    assert f"{log} stays, as it holds blocks of other instants" in explained.as_text("rollback")
    table.run(Rollback(time))
    assert content(table) == BEFORE
    assert len(commands(table)) == 1


def test_it_may_be_killed_at_every_call(tmp_path):
    unfinished(tmp_path / "t")
    at = 0
    while True:
        at += 1
        shutil.copytree(tmp_path / "t", tmp_path / f"{at}")
        storage = FaultyStorage(tmp_path / f"{at}", at)
        try:
            HoodieTable(storage, LocalEngine(1)).write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
        except Killed:
            (tmp_path / f"{at}" / ".hoodie" / "lock").unlink(missing_ok=True)
        else:
            break
        table = HoodieTable.open(str(tmp_path / f"{at}"), engine=LocalEngine(1))
        assert {key: row for key, row in content(table).items() if key != "c"} == BEFORE
        table.write(batch([("d", "p", 4, 4)]), "insert", SMALL_BLOOM)
        assert {key: row for key, row in content(table).items() if key not in "cd"} == BEFORE
        assert len(commands(table)) == 1
        shutil.rmtree(tmp_path / f"{at}")
    assert at > 20


@pytest.mark.parametrize("named", ["the log", "the table"])
def test_a_rollback_that_another_began_is_carried_out_by_its_plan(tmp_path, named):
    """Hudi names the table in place of the logs where it has planned from a listing."""
    table, time, log = unfinished(tmp_path / "t")
    file_id, base = re.fullmatch(r".*/\.(.+)_(\d+)\.log\..*", log).groups()
    begin(table, time, log if named == "the log" else "", file_id, base)
    state = table.state()
    instants.start(state, next(i for i in state.timeline.pending if i.time == LATER))
    block = {Header.TARGET_INSTANT_TIME: time, Header.INSTANT_TIME: LATER, Header.COMMAND_BLOCK_TYPE: "0"}
    theirs = f"part=p/.{file_id}_{base}.log.4_1-0-1"
    table.storage.create(theirs, encode_block(BlockType.COMMAND, block, b""))  # it died right after it
    table.write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == {**BEFORE, "c": ("p", 4, 4)}
    assert list(commands(table)) == [theirs.rpartition("/")[2]]
    (done,) = table.timeline.completed(Action.ROLLBACK)
    assert done.time == LATER
    assert table.timeline.pending == ()


@pytest.mark.parametrize("noted", [True, False])
def test_a_log_that_has_blocks_of_others_since_it_was_planned_is_not_deleted(tmp_path, noted):
    """A writer went on to append to it, after the planner of the rollback had died; or the plan is wrong."""
    table, time, log = unfinished(tmp_path / "t")
    if not noted:
        table.storage.delete_folder(f".hoodie/.temp/{time}")
    before = table.storage.read(log)
    plan = RollbackPlan(time, "deltacommit", {"part=p": (log,)})
    instants.request(table.state(), LATER, Action.ROLLBACK, encode_rollback_plan(plan, table.base_path))
    table.write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == {**BEFORE, "c": ("p", 4, 4)}
    assert table.storage.read(log) == before
    assert len(commands(table)) == 1
    (done,) = table.timeline.completed(Action.ROLLBACK)
    record = avro_file.decode(table.state().body(done), "here")
    (partition,) = record["partitionMetadata"].values()
    assert (record["totalFilesDeleted"], partition["successDeleteFiles"]) == (0, [])
    assert list(partition["logFilesFromFailedCommit"]) == [f"{table.base_path}/{log}"]


def begin(table, time, log, file_id, base):
    """A rollback whose plan names a log of a file slice."""
    request = {
        "partitionPath": "part=p",
        "fileId": file_id,
        "latestBaseInstant": base,
        "filesToBeDeleted": [],
        "logBlocksToBeDeleted": {f"{table.base_path}/{log}".rstrip("/"): 7},
    }
    record = {
        "instantToRollback": {"commitTime": time, "action": "deltacommit"},
        "RollbackRequests": [request],
        "version": 1,
    }
    instants.request(table.state(), LATER, Action.ROLLBACK, avro_file.encode("HoodieRollbackPlan", record))


@pytest.mark.parametrize(("file_id", "base"), [("a/b", "1"), ("..", "1"), ("x", "y"), ("x", "")])
def test_a_plan_that_may_lead_out_of_the_table_is_refused(tmp_path, file_id, base):
    table, *undone = unfinished(tmp_path / "t")
    begin(table, *undone, file_id, base)
    with pytest.raises(UnsafePathError, match="nothing was changed"):
        table.write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == BEFORE


@pytest.mark.parametrize("file_id", ["", "a.b"])
def test_a_plan_that_names_no_slice_is_put_aside_and_made_anew(tmp_path, file_id):
    table, *undone = unfinished(tmp_path / "t")
    begin(table, *undone, file_id, "1")
    table.write(batch([("c", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == {**BEFORE, "c": ("p", 4, 4)}
    assert len(list(walk_files(table.storage, ".hoodie/.quarantine"))) == 1


def test_in_later_versions_logs_are_of_one_instant(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    plan = RollbackPlan(LATER, "deltacommit", {}, (SharedLogs("part=p", "x", "1", {"part=p/.x_1.log.1": 7}),))
    instants.request(table.state(), LATER, Action.ROLLBACK, encode_rollback_plan(plan, table.base_path))
    with pytest.raises(UnsupportedTableError, match="finish it with Hudi"):
        table.write(batch([("b", "p", 4, 4)]), "insert", SMALL_BLOOM)


def test_a_plan_or_a_marker_that_names_a_log_of_another_instant_is_refused(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    ((log,),) = ([log.path for log in each.log_files] for each in table.file_slices())
    DirectMarkers(table.storage, Time.of(LATER)).create(log, MarkerType.CREATE)
    with pytest.raises(UnsafeDeleteError, match="blocks of other instants"):
        reconcile_markers(table.storage, Time.of(LATER), ())
    plan = RollbackPlan(LATER, "deltacommit", {"part=p": (log,)})
    instants.request(table.state(), LATER, Action.ROLLBACK, encode_rollback_plan(plan, table.base_path))
    with pytest.raises(UnsafeDeleteError, match="blocks of other instants"):
        table.write(batch([("b", "p", 4, 4)]), "insert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 2, 2)}

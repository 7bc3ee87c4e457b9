"""The rollback of version 6 that Hudi 0.15.0 wrote: ours has the same plan, the same metadata, and the same command block."""

from __future__ import annotations

import shutil

import pytest

from hoodie import HoodieTable
from hoodie.formats import avro_file
from hoodie.timeline import Action
from hoodie.timeline.codecs.rollback import decode_rollback_plan, encode_rollback_plan
from hoodie.transaction.command_blocks import hide_blocks
from hoodie.transaction.guard import relative_path
from tests.support.tables import SMALL_BLOOM

BASE = "file:/tmp/hudi-golden/15v6/mor_rollback"  # where the archive was made


@pytest.fixture
def table(golden, tmp_path):
    """A copy in which the rollback did not come as far as its command block."""
    path = tmp_path / "t"
    shutil.copytree(golden("15v6") / "mor_rollback", path)
    table = HoodieTable.open(str(path))
    (rollback,) = table.timeline.completed(Action.ROLLBACK)
    plan = table.storage.read(f".hoodie/{rollback.time}.rollback.requested")
    record = avro_file.decode(plan, "here")
    written = avro_file.decode(table.storage.read(f".hoodie/{rollback.time}.rollback"), "here")
    return table, rollback.time, record, written


def test_the_plan_and_the_block_are_the_same(table):
    opened, time, record, written = table
    body = opened.storage.read(f".hoodie/{time}.rollback.requested")
    plan = decode_rollback_plan(body, "here", lambda path: relative_path(BASE, path))
    again = avro_file.decode(encode_rollback_plan(plan, BASE), "here")
    requests = [each for each in again["RollbackRequests"] if each["fileId"]]
    assert {**again, "RollbackRequests": requests} == record
    (theirs,) = written["partitionMetadata"]["part=p1"]["rollbackLogFiles"]
    path = relative_path(BASE, theirs)
    block = opened.storage.read(path)
    opened.storage.delete(path)
    (shared,) = plan.shared
    assert hide_blocks(opened.storage, shared, plan.instant, time) == (path, len(block))
    assert opened.storage.read(path) == block
    assert hide_blocks(opened.storage, shared, plan.instant, "20990101000000000") == (path, len(block))


def test_we_finish_it(table, expected):
    opened, time, record, written = table
    (theirs,) = written["partitionMetadata"]["part=p1"]["rollbackLogFiles"]
    opened.storage.delete(relative_path(BASE, theirs))
    opened.storage.delete(f".hoodie/{time}.rollback")
    opened.storage.delete(f".hoodie/{time}.rollback.requested")
    plan = decode_rollback_plan(
        avro_file.encode("HoodieRollbackPlan", record), "here", lambda path: relative_path(BASE, path)
    )
    opened.storage.create(f".hoodie/{time}.rollback.requested", encode_rollback_plan(plan, opened.base_path))
    for state in ("requested", "inflight"):
        opened.storage.create(f".hoodie/{plan.instant}.deltacommit.{state}", b"")
    rows = opened.read().slice(0, 0)
    columns = [name for name in rows.column_names if not name.startswith("_hoodie")]
    opened.write(rows.select(columns), "upsert", SMALL_BLOOM)
    assert [i.time for i in opened.timeline.completed(Action.ROLLBACK)] == [time]
    found = avro_file.decode(opened.storage.read(f".hoodie/{time}.rollback"), "here")
    theirs_here = {
        kind: {path.replace(BASE, opened.base_path): size for path, size in paths.items()}
        for kind, paths in written["partitionMetadata"]["part=p1"].items()
        if isinstance(paths, dict)
    }
    (ours,) = (part for name, part in found["partitionMetadata"].items() if name == "part=p1")
    assert {kind: ours[kind] for kind in theirs_here} == theirs_here
    assert len(opened.read()) == len(expected("15v6", "mor_rollback"))

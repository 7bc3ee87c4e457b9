"""The slices of a table at a moment."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, Restore
from hoodie.errors import MissingFileError
from hoodie.timeline import Action
from hoodie.view.files import PartitionFiles
from hoodie.view.slices import groups_without
from tests.support.made_states import base_file, done, log_file, pending, state_of
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}


def upsert(table, *rows, **options):
    return table.write(batch(rows), "upsert", {**SMALL_BLOOM, **options}).instant.time


def test_as_of_a_write_that_was_complete_after_a_compaction_was_planned(tmp_path):
    """It inserts a row, which is in a base file, and updates one, which is in a log beside the compaction's base file."""
    table = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    upsert(table, ("a", "p", 1, 1))
    upsert(table, ("a", "p", 2, 2))
    rows = batch([("a", "p", 3, 3), ("b", "p", 3, 3)])
    late = Rival(tmp_path / "t", lambda each: each.write(rows, "upsert", APART)).begin()
    planned = table.schedule(
        COMPACTION, {"hoodie.write.concurrency.mode": OCC["hoodie.write.concurrency.mode"]}, force=True
    )
    assert late.finish() is None
    table = shared(tmp_path / "t")
    written = table.timeline.commits[-1].time
    assert written < planned
    whole = {"a": ("p", 3, 3), "b": ("p", 3, 3)}
    assert content(table, as_of=written) == whole
    table.run(COMPACTION)
    assert content(table) == content(table, as_of=written) == whole
    assert content(table, as_of=table.timeline.commits[1].time)["a"] == ("p", 2, 2)

    table.savepoint(written)
    (log,) = [log for each in table.file_slices() for log in each.log_files if log.time == written]
    for value in (5, 6, 7):
        upsert(table, ("a", "p", value, value))
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    assert content(table, as_of=written) == whole
    kept = table.storage.read(log.path)
    table.storage.delete(log.path)
    with pytest.raises(MissingFileError, match=log.info.name):
        table.read(as_of=written)
    table.storage.create(log.path, kept)
    table.run(Restore(written))
    assert content(table) == whole


def slices(version, instants, bases, logs):
    """(time of the slice, time of its base file, times of its logs) for each slice of one group, the newest first."""
    state = state_of(version, {}, instants)
    files = PartitionFiles("p", tuple(map(base_file, bases)), tuple(map(log_file, logs)), True)
    return [
        (each.base_instant, each.base_file and each.base_file.instant, [log.time for log in each.log_files])
        for group in groups_without((), [files], state)
        for each in group.slices
    ]


def test_a_log_belongs_to_the_newest_slice_that_began_before_it_was_complete():
    instants = [done("10", "11"), done("20", "29"), done("30", "31")]
    assert slices("9", instants, ["10", "30"], ["20"]) == [("30", "30", []), ("10", "10", ["20"])]
    late = [done("10", "11"), done("20", "35"), done("30", "31")]
    assert slices("9", late, ["10", "30"], ["20"]) == [("30", "30", ["20"]), ("10", "10", [])]
    at_once = [done("10", "11"), done("20", "30"), done("30", "31")]
    assert slices("9", at_once, ["10", "30"], ["20"]) == [("30", "30", ["20"]), ("10", "10", [])]


def test_logs_of_writes_that_are_not_complete_are_in_no_slice():
    instants = [done("10", "11"), pending("20")]
    assert slices("9", instants, ["10"], ["10", "20"]) == [("10", "10", ["10"])]
    assert slices("9", [*instants, done("40", "41")], ["10"], ["30"]) == [("10", "10", [])], "no instant knows it"
    assert slices("9", instants, [], ["20"]) == []


def test_logs_of_version_6_make_a_slice_where_their_instant_began_one():
    """Their instant is that of the slice, so only their blocks name the write."""
    instants = [done("10", "11"), pending("20"), pending("30", Action.COMPACTION)]
    assert slices("6", instants, ["10"], ["10", "20"]) == [("10", "10", ["10"])]
    assert slices("6", instants, ["10"], ["30"]) == [("10", "10", ["30"])], "read on top of the slice before"
    assert slices("6", [done("10", "11")], [], ["10"]) == [("10", None, ["10"])]

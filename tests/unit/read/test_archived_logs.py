"""Logs whose delta commits were archived: they count, and they stay with the slice that they were written on."""

from __future__ import annotations

import shutil
from datetime import UTC

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.timeline import Action, format_time
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage
from tests.support.tables import SMALL_BLOOM, batch, content, create

MOR = {"hoodie.table.type": "MERGE_ON_READ"}


def write(table, rows, operation="upsert", **more):
    return table.write(batch(rows), operation, SMALL_BLOOM, **more).instant


def archive_lookups(table, read):
    storage = FaultyStorage(table.base_path)
    read(HoodieTable(storage, table.engine, table.clock))
    folder = table.state().layout.archive_folder
    return [path for _, path in storage.log if path.startswith(f"{folder}/")]


@pytest.mark.parametrize("version", ["9", "6"])
def test_uncompacted_logs_of_archived_commits_are_read(tmp_path, version):
    table = create(tmp_path / "t", FakeClock(), **MOR, **{"hoodie.write.table.version": version})
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    write(table, [("c", "p", 2, 2)], "delete")
    last = write(table, [("b", "p", 3, 3)])
    before = content(table)
    assert before == {"a": ("p", 2, 2), "b": ("p", 3, 3)}
    archive_before(table, last.time)
    assert content(table) == before
    assert archive_lookups(table, HoodieTable.read) == [], "no later base file: their times decide nothing"
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    assert content(table) == before


def test_a_log_that_was_complete_after_a_compaction_began_stays_with_it(tmp_path):
    """By its requested time alone it would go to the slice before the compaction, and its rows would be lost."""
    table = create(tmp_path / "t", FakeClock(), **MOR)
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    # A writer of Hudi's non-blocking concurrency does so: it writes elsewhere while the table is compacted.
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    slow = write(HoodieTable.open(str(tmp_path / "copy"), clock=table.clock), [("b", "p", 3, 3)])
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    compaction = table.timeline.completed(Action.COMMIT)[-1]
    done = format_time(table.clock.now(), UTC)
    assert slow.time < compaction.time < done
    for path in (tmp_path / "copy").rglob(f"*{slow.time}*"):
        name = path.name.replace(slow.completion_time, done)
        shutil.copy(path, tmp_path / "t" / path.relative_to(tmp_path / "copy").with_name(name))
    for value in (2, 3, 4):
        last = write(table, [("c", "q", value, value)])
    before = content(table)
    assert before == {"a": ("p", 2, 2), "b": ("p", 3, 3), "c": ("q", 4, 4)}
    archive_before(table, last.time)
    assert content(table) == before
    [newest] = [file_slice for file_slice in table.file_slices() if file_slice.partition.endswith("p")]
    assert (newest.base_instant, newest.log_files[0].time) == (compaction.time, slow.time)
    opened = [path for path in archive_lookups(table, HoodieTable.file_slices) if path.endswith(".parquet")]
    files = [f for f in table.storage.list(table.state().layout.archive_folder).files if f.name.endswith(".parquet")]
    assert len(files) == 3
    assert len(opened) == 2, "of the history the files are read that hold the instants of the two old logs"

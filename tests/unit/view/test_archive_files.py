"""Reads that end in the archive miss files of archived commits that are gone, or cut short."""

from __future__ import annotations

import re

import pyarrow.compute as pc
import pytest

from hoodie import CLEAN, CLUSTERING, COMPACTION, HoodieTable, Rollback
from hoodie.errors import CorruptFileError, MissingFileError, TimeTravelError
from hoodie.view import TableView
from hoodie.view.archive_files import absent_archived
from tests.support.archive import archive, archive_before
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
KINDS = [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")]


@pytest.fixture(params=KINDS, ids="-".join)
def history(request, tmp_path):
    """Commits 0 to 2 on one group in p, 3 on one in q, 4 replaces one in r, then 5 and 6 in q; the last two are active."""
    kind, version = request.param
    table = create(tmp_path / "h", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    table.write(batch([("r", "r", 1, 1)]), "insert", NO_SMALL_FILES)
    for value in (1, 2):
        table.write(batch([("a", "p", value, value), ("b", "p", value, value)]), "upsert", NO_SMALL_FILES)
    table.write(batch([("c", "q", 1, 1)]), "insert", NO_SMALL_FILES)
    table.write(batch([("r", "r", 2, 2)]), "insert_overwrite", NO_SMALL_FILES)
    for value in (2, 3):
        table.write(batch([("c", "q", value, value)]), "upsert", NO_SMALL_FILES)
    return table


def archived(table):
    """The times of all commits; those before the last two are archived."""
    times = [commit.time for commit in table.timeline.commits]
    archive_before(table, times[-2])
    return times


def slice_of(table, partition, time):
    view = TableView(table.state(), as_of=time)
    (found,) = [s for s in view.slices if s.partition == partition]
    return found


def test_a_file_of_an_archived_commit_is_missed_by_reads_that_end_there(history):
    table = history
    times = archived(table)
    whole = content(table, as_of=times[3])
    assert whole == {"a": ("p", 2, 2), "b": ("p", 2, 2), "c": ("q", 1, 1), "r": ("r", 1, 1)}
    for path in slice_of(table, "part=p", times[3]).paths:
        kept = table.storage.read(path)
        table.storage.delete(path)
        for use in (
            lambda: table.read(as_of=times[3]),
            lambda: table.read(as_of=times[3], filter=pc.field("part") == "p"),
            lambda: table.read_incremental(times[0], times[3]),
            lambda: table.read_incremental(None, times[3]),
            lambda: table.read_incremental(times[0]),
            lambda: table.read_incremental(times[0], times[-2]),
            lambda: table.read_incremental(None, times[-1]),
        ):
            with pytest.raises(MissingFileError, match=rf"file of table.*{re.escape(path)}.*wrote.*restore it"):
                use()
        assert content(table, as_of=times[3], filter=pc.field("part") == "q") == {"c": ("q", 1, 1)}
        assert table.read(as_of=times[3], options={"hoodie.read.check.files": False}).num_rows
        assert table.read_incremental(times[5]).num_rows
        assert [file.path for file in absent_archived(table.state(), table.file_slices())] == [path]
        assert [each.path for each in table.diagnose(deep=True).of("missing-file")] == [path]
        table.storage.create(path, kept)
    assert content(table, as_of=times[3]) == whole
    assert not absent_archived(table.state(), table.file_slices())


def test_a_partition_that_is_gone_is_missed(history):
    table = history
    times = archived(table)
    for file in table.storage.list("part=p").files:
        table.storage.delete(file.path)
    for query in ({}, {"filter": pc.field("part") == "p"}):
        with pytest.raises(MissingFileError, match="part=p"):
            table.read(as_of=times[3], **query)
    assert content(table, as_of=times[0]) == {"r": ("r", 1, 1)}


def test_a_file_of_an_archived_commit_that_was_cut_short(history):
    table = history
    times = archived(table)
    path = slice_of(table, "part=p", times[3]).paths[-1]
    data = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, data[:-9])
    with pytest.raises(CorruptFileError, match="cut short"):
        table.read(as_of=times[3])


def test_replaced_cleaned_and_compacted_files_are_not_missed(history):
    table = history
    before = [content(table, as_of=commit.time) for commit in table.timeline.commits]
    times = [commit.time for commit in table.timeline.commits]
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
    table.schedule(CLUSTERING, {**SMALL_BLOOM, "hoodie.clustering.plan.strategy.sort.columns": "id"}, force=True)
    table.run(CLUSTERING, SMALL_BLOOM)
    clustering = table.timeline.last_commit.time
    table.write(batch([("c", "q", 9, 9)]), "upsert", NO_SMALL_FILES)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 4}).files_deleted
    whole = content(table)
    readable = [time for time in times if is_readable(table, time)]
    assert 0 < len(readable) < len(times)
    archive_before(table, clustering)
    for time, rows in zip(times, before, strict=True):
        if time in readable:
            assert content(table, as_of=time) == rows
        else:
            with pytest.raises(TimeTravelError, match="clean"):
                table.read(as_of=time)
    assert content(table) == whole
    assert not absent_archived(table.state(), table.file_slices())


def test_only_reads_of_the_archive_look_into_it(history):
    """Reads of now and of active commits ask nothing of the archive."""
    times = archived(history)
    storage = FaultyStorage(history.base_path)
    table = HoodieTable(storage, history.engine, history.clock)
    for read in (table.read, lambda: table.read(as_of=times[-1])):
        read()
    assert not [path for _, path in storage.log if "history" in path or "archived" in path]


def is_readable(table, time):
    try:
        table.read(as_of=time)
    except TimeTravelError:
        return False
    return True


@pytest.mark.parametrize(("kind", "version"), KINDS)
def test_a_commit_that_was_taken_back_though_the_archive_has_it(tmp_path, kind, version):
    """An archiver died before it took the commit off the timeline, then a rollback came. Its files are not missed."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", NO_SMALL_FILES)
    last = table.timeline.last_commit
    kept = {f.path: table.storage.read(f.path) for f in timeline_files(table) if f.name.startswith(last.time)}
    archive(table, [last])
    for path, data in kept.items():
        table.storage.create(path, data)
    table.run(Rollback(last.time))
    rows = content(table)
    for value in (7, 8):
        table.write(batch([("z", "z", value, value)]), "upsert", NO_SMALL_FILES)
    archive_before(table, table.timeline.last_commit.time)
    assert content(table, as_of=last.time) == rows
    assert not absent_archived(table.state(), table.file_slices())


def timeline_files(table):
    return table.storage.list(table.state().layout.folder).files

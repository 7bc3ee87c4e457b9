"""A table is neither read, nor written on, when a file of a completed commit is gone."""

from __future__ import annotations

import re
import shutil

import pyarrow.compute as pc
import pytest

from hoodie import CLEAN, CLUSTERING, COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.dataset import HoodieDataset
from hoodie.errors import CorruptFileError, MissingFileError, TimeTravelError
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.read.plan import plan_read
from hoodie.read.query import Query
from hoodie.timeline import Action
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view.missing_files import absent_files
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage
from tests.support.made_states import base_file, done, log_file, state_of, wrote
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """A group with a log in partition p, one without in q; its first commit, and its second, which wrote the log."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), "insert", NO_SMALL_FILES)
    table.write(batch([("a", "p", 2, 2)]), "upsert", NO_SMALL_FILES)
    return table


def lose_the_base(table):
    (base,) = [s.base_file for s in table.file_slices() if s.log_files]
    table.storage.delete(base.path)
    return base


def forget(table, time):
    """Remove a commit from the timeline."""
    for file in table.storage.list(table.state().layout.folder).files:
        if file.name.startswith(time):
            table.storage.delete(file.path)


def test_it_is_neither_read_nor_written_on(table):
    first, second = table.timeline.commits
    base = lose_the_base(table)
    with pytest.raises(MissingFileError, match=rf"base file of table.*{base.name}.*{first.time}.*restore it"):
        table.read()
    with pytest.raises(MissingFileError):
        table.read(read_optimized=True)
    with pytest.raises(MissingFileError):
        table.read(as_of=second.time)
    with pytest.raises(MissingFileError, match=base.name):
        table.write(batch([("b", "p", 3, 3)]), "upsert", NO_SMALL_FILES)
    assert table.timeline.instants[:2] == (first, second)
    table.write(batch([("c", "q", 3, 3)]), "upsert", NO_SMALL_FILES)  # another partition


@pytest.mark.parametrize("inside", ["x", ".hoodie_partition_metadata"])
def test_a_folder_in_place_of_a_file(table, inside):
    """A base file that lies in its folder is that of another partition."""
    (held,) = [s for s in table.file_slices() if s.log_files]
    for path in held.paths:
        data = table.storage.read(path)
        table.storage.delete(path)
        table.storage.create(f"{path}/{inside}", data)
        for action in (table.read, lambda: table.write(batch([("b", "p", 3, 3)]), "upsert", NO_SMALL_FILES)):
            with pytest.raises(MissingFileError, match=r"file of table.* is missing.*restore it"):
                action()
        table.storage.delete_folder(path)
        table.storage.create(path, data)
    assert content(table)["a"] == ("p", 2, 2)


def test_a_group_that_began_with_a_log(table):
    """No commit knows of a base file: as other indexes of Hudi's write, or after the commit was archived."""
    forget(table, lose_the_base(table).instant)
    assert content(table)["a"] == ("p", 2, 2)


def test_as_of_before_a_compaction(table):
    """A base file that a compaction made of logs alone is not missing before it."""
    forget(table, lose_the_base(table).instant)
    upsert = table.timeline.last_commit.time
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table, as_of=upsert)["a"] == content(table)["a"] == ("p", 2, 2)


@pytest.mark.parametrize(("slice_of_log", "missed"), [("10", True), ("20", False)])
def test_as_of_a_write_its_log_of_version_6_is_missed_from_the_slices_before(slice_of_log, missed):
    """A compaction that was planned while the write ran began the slice of its log."""
    base, log, compacted = base_file("10"), log_file(slice_of_log), base_file("20")
    bodies = {done("10", "11"): wrote(base), done("15", "25"): wrote(log), done("20", "26"): wrote(compacted)}
    state = state_of("6", bodies)
    slices = [FileSlice("p", "f", Time("10"), base)]
    found = absent_files(state, slices, as_of=Time("15"))
    assert [file.path for file in found] == ([log.path] if missed else [])


@pytest.fixture(params=[("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")], ids="-".join)
def history(request, tmp_path):
    """Five commits on one group in partition p, of which the last deletes b; one group in q."""
    kind, version = request.param
    table = create(tmp_path / "h", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    for value in (1, 2, 3):
        table.write(batch([("a", "p", value, value), ("b", "p", value, value)]), "upsert", NO_SMALL_FILES)
    table.write(batch([("b", "p", 9, 9)]), "delete", NO_SMALL_FILES)
    table.write(batch([("c", "q", 1, 1)]), "insert", NO_SMALL_FILES)
    return table


def newest(table, partition="part=p"):
    """The files of the partition's slice, the newest first, but a base file below logs."""
    (found,) = [s for s in table.file_slices() if s.partition == partition]
    return list(reversed(found.paths))


def test_any_file_of_the_slice_is_missed_by_reads_and_writes(history):
    """Otherwise b would be back, and the next upsert would build on that."""
    table = history
    whole = content(table)
    assert whole == {"a": ("p", 3, 3), "c": ("q", 1, 1)}
    in_p = pc.field("part") == "p"
    for path in newest(table):
        kept = table.storage.read(path)
        table.storage.delete(path)
        for use in (
            table.read,
            lambda: table.read(filter=in_p),
            lambda: table.read(as_of=table.timeline.commits[-2].time),
            lambda: table.read_incremental(table.timeline.commits[0].time),
            lambda: table.write(batch([("a", "p", 7, 7)]), "upsert", NO_SMALL_FILES),
            lambda: table.write(batch([("d", "p", 7, 7)]), "insert", SMALL_BLOOM),
            lambda: table.write(batch([("a", "p", 7, 7)]), "delete", NO_SMALL_FILES),
        ):
            with pytest.raises(MissingFileError, match=rf"file of table.*{re.escape(path)}.*wrote.*restore it"):
                use()
        assert content(table, filter=pc.field("part") == "q") == {"c": ("q", 1, 1)}
        table.storage.create(path, kept)
    assert content(table) == whole


def test_what_was_there_before_can_still_be_read(history):
    table = history
    path = newest(table)[0]
    before = content(table, as_of=table.timeline.commits[2].time)
    assert set(before) == {"a", "b"}
    if table.properties.is_merge_on_read:  # the slice lacks its last log
        assert path.rpartition("/")[2].startswith(".")
    table.storage.delete(path)
    assert content(table, as_of=table.timeline.commits[2].time) == before
    with pytest.raises(MissingFileError):
        table.read()


def test_services_do_not_build_on_it(history):
    table = history
    table.storage.delete(newest(table)[0])
    clean = {"hoodie.clean.commits.retained": 1}
    with pytest.raises(MissingFileError, match="file of table"):
        table.run(CLEAN, clean)
    if table.properties.is_merge_on_read:
        with pytest.raises(MissingFileError, match="log file of table"):
            table.schedule(COMPACTION, force=True)
    if table.properties.is_merge_on_read and table.version != 6:
        with pytest.raises(MissingFileError, match="log file of table"):
            table.schedule(LOG_COMPACTION)


@pytest.mark.parametrize("left", [0, 0.5])
def test_a_file_that_is_shorter_than_its_commit_says(history, left):
    """Reads, writes, services and the doctor compare the size that a listing gives. A log would give older rows."""
    table = history
    whole, past = content(table), table.timeline.commits[2].time
    before = content(table, as_of=past)
    for path in newest(table):
        kept = table.storage.read(path)
        replace_file(table, path, kept[: int(len(kept) * left)])
        for use in (
            table.read,
            lambda: table.write(batch([("a", "p", 7, 7)]), "upsert", NO_SMALL_FILES),
            lambda: table.write(batch([("d", "p", 7, 7)]), "insert", SMALL_BLOOM),
            lambda: table.run(CLEAN, {"hoodie.clean.commits.retained": 1}),
            lambda: table.schedule(CLUSTERING, force=True),
            *([lambda: table.schedule(COMPACTION, force=True)] if table.properties.is_merge_on_read else ()),
        ):
            with pytest.raises(CorruptFileError, match=rf"was cut short.*{re.escape(path)} has.*wrote {len(kept):,}"):
                use()
        assert [(each.check, each.path) for each in table.diagnose().findings] == [("file-size", path)]
        if "/." in path:
            assert "a" in content(table, options={"hoodie.read.check.files": "false"})
        if path == newest(table)[0]:
            assert content(table, as_of=past) == before
        replace_file(table, path, kept)
    assert content(table) == whole


def test_a_base_file_that_is_longer_than_its_commit_says(history):
    """As the file of another partition that someone copied over it. A log may have been appended to by other writes."""
    table = history
    whole = content(table)
    (path,) = [path for path in newest(table) if "/." not in path]
    kept = table.storage.read(path)
    replace_file(table, path, kept + kept)
    for use in (table.read, lambda: table.write(batch([("a", "p", 7, 7)]), "upsert", NO_SMALL_FILES)):
        with pytest.raises(CorruptFileError, match=rf"was replaced.*{re.escape(path)} has.*wrote {len(kept):,}"):
            use()
    (finding,) = table.diagnose().findings
    assert (finding.check, finding.path, "INSTANT" in finding.remedy) == ("file-size", path, False)
    replace_file(table, path, kept)
    for log in [path for path in newest(table) if "/." in path]:
        replace_file(table, log, table.storage.read(log) * 2)
    assert content(table) == whole


def test_a_planned_compaction_of_a_log_that_was_cut_short_since(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", NO_SMALL_FILES)
    table.schedule(COMPACTION, force=True)
    path = newest(table)[0]
    replace_file(table, path, b"")
    with pytest.raises(CorruptFileError, match=re.escape(path)):
        table.run(COMPACTION)


def replace_file(table, path, data):
    table.storage.delete(path)
    table.storage.create(path, data)


def test_a_partition_that_is_gone(history):
    table = history
    table.storage.delete_folder("part=q")
    for filter in (None, pc.field("part") == "q", pc.field("part") >= "p"):
        with pytest.raises(MissingFileError, match=r"base file of table.*part=q/"):
            table.read(filter=filter)
    assert content(table, filter=pc.field("part") == "p") == {"a": ("p", 3, 3)}


def test_a_partition_that_listing_does_not_find(history):
    table = history
    (metafile,) = [
        f.path for f in table.storage.list("part=q").files if f.name.startswith(".hoodie_partition_metadata")
    ]
    table.storage.delete(metafile)
    for filter in (None, pc.field("part") == "q"):
        with pytest.raises(MissingFileError, match=r"'part=q'.*not found by listing.*\.hoodie_partition_metadata"):
            table.read(filter=filter)
    table.mend(table.diagnose())  # as the error says
    assert content(table, filter=pc.field("part") == "q")


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_partition_of_archived_commits_that_listing_does_not_find(tmp_path, version):
    """A folder that no archived commit wrote to is a copy, and is passed over."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    for part, value in (("old", 1), ("p", 1), ("p", 2), ("p", 3)):
        table.write(batch([(part, part, value, value)]), "upsert", NO_SMALL_FILES)
    archive_before(table, table.timeline.commits[2].time)
    rows = content(table)
    shutil.copytree(tmp_path / "t/part=old", tmp_path / "t/copy")
    (tmp_path / "t/copy/.hoodie_partition_metadata").unlink()
    mark = tmp_path / "t/part=old/.hoodie_partition_metadata"
    assert content(table) == rows
    assert {finding.check for finding in table.diagnose().findings} >= {"unmarked-folder"}
    mark.unlink()
    for query in ({}, {"filter": pc.field("part") == "old"}):
        with pytest.raises(
            MissingFileError, match=r"Partition 'part=old' .* not found by listing.*run `hudi-services doctor --fix`"
        ):
            table.read(**query)
    assert list(content(table, filter=pc.field("part") == "p")) == ["p"]
    with pytest.raises(MissingFileError):
        HoodieDataset(table).to_table()
    table.mend(table.diagnose())
    assert content(table) == rows
    shutil.rmtree(tmp_path / "t/copy")
    table.delete_partitions(["part=old"])
    mark.unlink()
    assert list(content(table)) == ["p"], "its file groups were taken out"


def test_a_copy_beside_an_archive_that_cannot_be_read_is_passed_over(tmp_path, caplog):
    table = create(tmp_path / "t", FakeClock())
    for value in (1, 2, 3):
        table.write(batch([("a", "p", value, value)]), "upsert", NO_SMALL_FILES)
    shutil.copytree(tmp_path / "t/part=p", tmp_path / "t/copy")
    (tmp_path / "t/copy/.hoodie_partition_metadata").unlink()
    archive_before(table, table.timeline.commits[2].time)
    (history,) = tmp_path.glob("t/.hoodie/timeline/history/*.parquet")
    history.write_bytes(b"torn")
    assert content(table) == {"a": ("p", 3, 3)}
    assert "whether folders without .hoodie_partition_metadata are partitions" in caplog.text


def test_cleaned_and_compacted_files_are_not_missed(history):
    table = history
    whole = content(table)
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
    for value in (11, 12):
        table.write(batch([("c", "q", value, value)]), "upsert", NO_SMALL_FILES)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    assert content(table) == {**whole, "c": ("q", 12, 12)}
    table.write(batch([("a", "p", 20, 20)]), "upsert", NO_SMALL_FILES)
    assert content(table)["a"] == ("p", 20, 20)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})


def test_a_reader_overtaken_by_a_cleaner_looks_again(history):
    """It loads the timeline, then others write and clean, then it lists the files."""
    table = history
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
    old = table.state()
    if table.properties.is_merge_on_read:
        table.run(COMPACTION, SMALL_BLOOM)
    for value in (21, 22):
        table.write(batch([("a", "p", value, value), ("c", "q", value, value)]), "upsert", NO_SMALL_FILES)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    plan = plan_read(old, Query())
    assert plan.timeline == table.timeline
    assert {s.paths for s in plan.slices} == {s.paths for s in table.file_slices()}


def test_time_travel_meets_a_clean_that_died_half_way(history):
    """Part of a slice of the past is gone, and no completed clean says so."""
    table = history
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
    past = table.timeline.commits[3].time
    assert set(content(table, as_of=past)) == {"a"}
    for value in (30, 31):
        table.write(batch([("a", "p", value, value)]), "upsert", NO_SMALL_FILES)
    planned = table.explain(CLEAN, {"hoodie.clean.commits.retained": 1}).plan
    body = encode_clean_plan(planned, table.base_path)
    instants.request(table.state(), new_time(table.state(), table.clock), Action.CLEAN, body)
    first = [f for f in planned.files if f.partition == "part=p" and (past in f.path or "/." in f.path)][-1]
    table.storage.delete(first.path)
    with pytest.raises(TimeTravelError, match=rf"clean .* {re.escape(first.path)}"):
        table.read(as_of=past)
    assert content(table)["a"] == ("p", 31, 31)


def test_a_torn_commit_says_nothing_of_files(history, caplog):
    """Reads go on, as ever, and the log says what is not known."""
    table = history
    whole = content(table)
    first = table.timeline.commits[1]
    path = f"{table.state().layout.folder}/{first.file_name}"
    data = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, data[: len(data) // 2])
    assert content(table) == whole
    assert f"{first.time}" in caplog.text


def test_another_table_at_the_same_place(tmp_path):
    """The process remembers only files that are there."""
    for value in (1, 2):
        table = create(tmp_path / "t", FakeClock())
        table.write(batch([("a", "p", value, value)]), "upsert", NO_SMALL_FILES)
        assert content(table) == {"a": ("p", value, value)}
        shutil.rmtree(tmp_path / "t")


def test_bodies_are_read_once_a_process(history):
    """But the last, of which a read wants the schema too."""
    storage = FaultyStorage(history.base_path)
    table = HoodieTable.open(storage)
    table.read()
    storage.log.clear()
    table.read()
    bodies = [path for name, path in storage.log if name == "read" and "commit" in path]
    assert len(bodies) == 1


def test_an_incremental_read_with_a_filter_misses_no_partition_that_its_commits_did_not_touch(tmp_path):
    table = create(tmp_path / "t")
    for number, part in enumerate("pqr"):
        table.write(batch([(f"k{number}", part, 1, 1)]), "upsert", SMALL_BLOOM)
    before = table.timeline.commits[0].completion_time
    found = table.read_incremental(before, columns=["id"], filter=pc.field("part") != "r")
    assert found["id"].to_pylist() == ["k1"]

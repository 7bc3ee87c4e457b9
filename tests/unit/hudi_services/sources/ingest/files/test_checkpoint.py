"""Every source file is loaded exactly once, after a kill at any point."""

from __future__ import annotations

import os
import shutil

import pytest

import hoodie.table
import hudi_services.sources.ingest.run
from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import CorruptTableError, MissingFileError, NotCommittedError, PendingInstantError
from hoodie.storage import LocalStorage, walk_files
from hoodie.view import load_state
from hudi_services.sources.ingest.files.checkpoint import KEY, Checkpoint, LoadedFile
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.positions import Position, find_position
from tests.support.archive import archive, archive_before
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, create

FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])
SECOND = batch([("c", "p", 1, 1), ("d", "q", 1, 1)])


def keys_with_repeats(feed):
    """`bulk_insert` does not look at keys: a file that was loaded twice shows."""
    return sorted(feed.open().read(columns=["id"])["id"].to_pylist())


def run_on(storage, feed, monkeypatch):
    """A run whose table is on `storage`."""
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: storage)
        feed.run(operation="bulk_insert")


def calls_of_a_run(feed, monkeypatch):
    probe = FaultyStorage(feed.table)
    run_on(probe, feed, monkeypatch)
    return probe.log


def state(feed):
    return load_state(LocalStorage(str(feed.table)), SystemClock())


def checkpoint(state):
    position = find_position(state, KEY, start_fresh=False)
    return Checkpoint() if position is None else Checkpoint.decode(position)


def test_a_checkpoint_survives_its_text():
    files = [SourceFile("ü/ä b.csv", 10, 3000, None), SourceFile("a.csv", 0, 4999, None)]
    made = Checkpoint().with_files("/land", files).with_files("s3://other", files[:1])
    assert Checkpoint.decode(Position(made.encode(), "1", "here")) == made
    assert made.loaded("/land") == {"ü/ä b.csv": LoadedFile(10, 3), "a.csv": LoadedFile(0, 4)}
    assert made.loaded("/elsewhere") == {}


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", '{"version": 2}', '{"version": 1, "sources": "AAAA"}'])
def test_a_checkpoint_that_cannot_be_read_names_the_instant_and_the_way_out(text):
    with pytest.raises(CorruptTableError, match=r"in commit 7 .* --start-fresh"):
        Checkpoint.decode(Position(text, "7", "commit 7"))


def test_a_later_run_loads_only_what_is_new(feed):
    feed.land("1.parquet", FIRST)
    assert feed.run(operation="bulk_insert").rows_inserted == 2
    assert feed.run(operation="bulk_insert").instant is None
    feed.land("2.parquet", SECOND)
    result = feed.run(operation="bulk_insert")
    assert (result.files_read, result.rows_inserted) == (1, 2)
    assert keys_with_repeats(feed) == ["a", "b", "c", "d"]


# The last steps of a run, each with whether the call is still done before the run dies there.
LAST_STEPS = [
    pytest.param("close_output", ".parquet", False, False, id="files written"),
    pytest.param("create", ".commit", False, False, id="before the commit"),
    pytest.param("create", ".commit", True, True, id="after the commit"),
    pytest.param("delete_folder", ".temp", False, True, id="before the markers are gone"),
    pytest.param("delete", "lock", False, True, id="before the lock is free"),
]


@pytest.mark.parametrize(("call", "path", "done", "committed"), LAST_STEPS)
def test_a_run_that_is_killed_neither_loses_nor_doubles_a_file(feed, monkeypatch, call, path, done, committed):
    feed.land("1.parquet", FIRST)
    feed.run(operation="bulk_insert")
    feed.land("2.parquet", SECOND)
    origin = feed.table.with_name("origin")
    shutil.copytree(feed.table, origin)
    log = calls_of_a_run(feed, monkeypatch)
    shutil.rmtree(feed.table)
    origin.rename(feed.table)

    number = max(n for n, (name, at) in enumerate(log, 1) if name == call and path in at)
    with pytest.raises(Killed):
        run_on(FaultyStorage(feed.table, number, half=done), feed, monkeypatch)
    assert keys_with_repeats(feed) == (["a", "b", "c", "d"] if committed else ["a", "b"])
    feed.run(operation="bulk_insert")
    assert keys_with_repeats(feed) == ["a", "b", "c", "d"]
    landed = {file.name: file.stat() for file in feed.source.iterdir()}
    taken = {name: LoadedFile(stat.st_size, int(stat.st_mtime)) for name, stat in landed.items()}
    assert checkpoint(state(feed)) == Checkpoint({str(feed.source): taken})


def test_a_first_load_without_disk_space_leaves_no_files_and_is_repeated_whole(feed, monkeypatch):
    feed.land("1.parquet", FIRST)
    log = calls_of_a_run(feed, monkeypatch)
    shutil.rmtree(feed.table)
    commit = next(n for n, (name, path) in enumerate(log, 1) if name == "create" and path.endswith(".commit"))
    with pytest.raises(NotCommittedError, match="No space left"):
        run_on(FaultyStorage(feed.table, commit, "full"), feed, monkeypatch)
    assert feed.content == {}
    feed.run()
    assert set(feed.content) == {"a", "b"}
    parquet = [file for file in walk_files(LocalStorage(str(feed.table)), "") if file.name.endswith(".parquet")]
    assert len(parquet) == 1


def test_two_sources_feed_one_table(feed):
    other = feed.source.with_name("other")
    feed.land("1.parquet", FIRST)
    feed.land("../other/1.parquet", SECOND)
    for _ in range(2):
        feed.run(operation="bulk_insert")
        feed.run(operation="bulk_insert", source=other)
    assert keys_with_repeats(feed) == ["a", "b", "c", "d"]
    assert set(checkpoint(state(feed)).sources) == {str(feed.source), str(other)}


def test_a_start_from_fresh_forgets_this_source_and_no_other(feed):
    other = feed.source.with_name("other")
    feed.land("1.parquet", FIRST)
    feed.land("../other/1.parquet", SECOND)
    feed.run(operation="bulk_insert")
    feed.run(operation="bulk_insert", source=other)
    assert feed.run(operation="bulk_insert", start_fresh=True).files_read == 1
    assert keys_with_repeats(feed) == ["a", "a", "b", "b", "c", "d"]
    assert feed.run(operation="bulk_insert").instant is None
    assert feed.run(operation="bulk_insert", source=other).instant is None


def test_reload_loads_again_what_changed(feed):
    feed.land("1.parquet", FIRST)
    feed.run()
    feed.land("1.parquet", batch([("a", "p", 2, 7), ("b", "p", 2, 7), ("z", "p", 2, 7)]))
    told = feed.run()
    assert told.instant is None
    assert "1 changed after they were loaded" in told.message
    assert feed.run(reload=True).rows_updated == 2
    assert feed.content["z"] == ("p", 2, 7)
    assert feed.run().instant is None, "the new size is remembered"


def test_commits_of_others_hide_no_checkpoint(feed):
    feed.land("1.parquet", FIRST)
    feed.run()
    feed.open().write(SECOND, "upsert", SMALL_BLOOM)
    feed.open().run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert feed.run().instant is None


@pytest.mark.parametrize("start_fresh", [False, True])
def test_a_broken_checkpoint_is_no_licence_to_load_again(feed, start_fresh):
    feed.land("1.parquet", FIRST)
    feed.run()
    feed.open().write(SECOND, "upsert", SMALL_BLOOM, extra_metadata={KEY: "broken"})
    if start_fresh:
        assert feed.run(start_fresh=True).files_read == 1
        assert feed.run().instant is None
    else:
        with pytest.raises(CorruptTableError, match="--start-fresh"):
            feed.run()


def test_an_archived_checkpoint_is_found(feed):
    """The newest of the archived ones counts; where others wrote all commits since, the active timeline has none."""
    for name, rows in (("1.parquet", FIRST), ("2.parquet", SECOND)):
        feed.land(name, rows)
        feed.run()
    for number in range(3):
        feed.open().write(batch([(f"x{number}", "p", 1, 1)]), "insert", SMALL_BLOOM)
    archive_before(feed.open(), feed.open().timeline.commits[3].time)
    assert len(next(iter(checkpoint(state(feed)).sources.values()))) == 2
    assert feed.run().instant is None
    assert feed.run(start_fresh=True).files_read == 2


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_run_goes_on_from_a_checkpoint_that_was_archived(feed, version):
    """Others wrote every commit that an archival left on the timeline. `bulk_insert` shows a file that is loaded twice."""
    given = {"operation": "bulk_insert", "options": {"hoodie.write.table.version": version}}
    for name, rows in (("1.parquet", FIRST), ("2.parquet", SECOND)):
        feed.land(name, rows)
        feed.run(**given)
    for number in range(4):
        feed.open().write(batch([(f"x{number}", "p", 1, 1)]), "insert", SMALL_BLOOM)
    short = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
    assert feed.open().run(ARCHIVE, short).instants == 4
    assert len(feed.open().timeline.commits) == 2
    assert feed.run(**given).instant is None
    feed.land("3.parquet", batch([("e", "q", 1, 1)]))
    assert feed.run(**given).files_read == 1
    assert feed.run(**given).instant is None
    assert keys_with_repeats(feed) == ["a", "b", "c", "d", "e", "x0", "x1", "x2", "x3"]


def test_an_archive_without_a_checkpoint_is_a_table_that_was_never_loaded(feed):
    feed.land("1.parquet", FIRST)
    feed.run()
    table = HoodieTable.create(str(feed.table.parent / "other"), OPTIONS)
    for number in range(3):
        table.write(batch([(f"x{number}", "p", 1, 1)]), "insert", SMALL_BLOOM)
    archive_before(table, table.timeline.commits[2].time)
    assert checkpoint(table.state()) == Checkpoint()


def test_a_damaged_archive_that_might_hold_a_checkpoint_needs_a_decision(feed):
    feed.land("1.parquet", FIRST)
    feed.run()
    feed.open().write(SECOND, "insert", SMALL_BLOOM)
    archive_before(feed.open(), feed.open().timeline.commits[1].time)
    opened = state(feed)
    for file in opened.storage.list(opened.layout.archive_folder).files:
        if file.name.endswith(".parquet"):
            opened.storage.delete(file.path)
    with pytest.raises(MissingFileError, match=r"archived timeline.*--start-fresh"):
        feed.run()
    assert feed.run(start_fresh=True).files_read == 1
    assert feed.run().instant is None


def test_of_two_runs_that_planned_the_same_files_one_loads_them(feed, monkeypatch):
    feed.land("1.parquet", FIRST)
    feed.run()
    feed.land("2.parquet", SECOND)

    def overtaken(*arguments):
        prepared = prepare(*arguments)
        monkeypatch.undo()
        feed.run(operation="bulk_insert")
        return prepared

    monkeypatch.setattr(hudi_services.sources.ingest.run, "prepare", overtaken)
    with pytest.raises(PendingInstantError, match="Another ingestion committed"):
        feed.run(operation="bulk_insert")
    assert keys_with_repeats(feed) == ["a", "b", "c", "d"]


def test_a_file_that_was_delivered_again_with_as_many_bytes_is_told(feed):
    feed.land("1.csv", "id,part,ts,value\na,p,1,1\n")
    feed.run("csv")
    feed.land("1.csv", "id,part,ts,value\na,p,1,2\n")
    os.utime(feed.source / "1.csv", (0, 0))
    result = feed.run("csv")
    assert (result.instant, "1 changed after they were loaded" in result.message) == (None, True)
    feed.run("csv", reload=True)
    assert feed.content == {"a": ("p", 1, 2)}
    assert "1 loaded before" in feed.run("csv").message


def test_a_position_in_the_archive_counts_though_an_older_one_is_active(tmp_path):
    """Hudi's archiver leaves the commits of savepoints; the files of later ones would be loaded again."""
    table = create(tmp_path / "t", FakeClock())
    for text in ("old", "new", ""):
        table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM, extra_metadata={KEY: text} if text else None)
    archive(table, table.timeline.commits[1:2])
    found = find_position(table.state(), KEY, start_fresh=False)
    assert found is not None
    assert found.text == "new"

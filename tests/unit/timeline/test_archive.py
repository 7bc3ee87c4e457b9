"""The archived timeline of both layouts: what it answers, how little of it is read, and that damage is not taken for nothing."""

from __future__ import annotations

import io
from datetime import datetime

import fastavro
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.storage import LocalStorage
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.archive import LogArchive, LsmArchive
from tests.support.archive import add_history, archive, archive_before, lsm_rows
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """Eight commits, of which six are archived in three files."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    for number in range(8):
        table.write(batch([(f"k{number}", "p", 1, number)]), "insert", SMALL_BLOOM, extra_metadata={"n": str(number)})
    table.all = table.timeline.commits
    archive_before(table, table.all[6].time)
    return table


def described(instants):
    return [(i.time, i.action, i.completion_time, i.is_archived) for i in instants]


def test_instants_with_their_times_and_bodies(table):
    state = table.state()
    assert len(state.timeline) == 2
    old = table.all[:6]
    wanted = [(i.time, i.action, i.completion_time, True) for i in old]
    assert described(state.archive.instants()) == wanted
    assert described(state.archive.newest()) == wanted[::-1]
    assert described(state.archive.instants(after=old[1].time, until=old[4].time)) == wanted[2:5]
    times = [old[3].time, table.all[7].time, "20010101000000000"]
    assert state.archive.completion_times(times) == {old[3].time: old[3].completion_time}
    for number, instant in enumerate(state.archive.instants()):
        metadata = state.commit_metadata(instant)
        assert (metadata.extra["n"], metadata.rows_written) == (str(number), metadata.stats[0].num_writes)
        assert metadata.schema is not None


def test_nothing_is_read_before_it_is_needed(table):
    storage = FaultyStorage(table.base_path)
    counted = HoodieTable(storage, table.engine, table.clock)
    assert counted.read().num_rows == 8
    assert counted.read(as_of=table.all[7].time).num_rows == 8
    counted.write(batch([("new", "p", 1, 8), ("k1", "p", 2, 9)]), "upsert", SMALL_BLOOM)
    counted.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    late = (datetime(2026, 1, 10), datetime(2027, 1, 1))
    assert counted.read_incremental(*late).num_rows == 0
    if table.version == 6:  # in layout 2 a commit of up to days ago may have been complete after the start of the range
        assert counted.read_incremental(table.all[6].time).num_rows == 3
    folder = counted.state().layout.archive_folder
    asked = {path.rpartition("/")[2] for _, path in storage.log if path.startswith(f"{folder}/")}
    assert asked == ({".commits_.archive.3_1-0-1"} if table.version == 6 else set())  # how far the archive reaches


def test_only_files_of_the_range_are_opened(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for number in range(8):
        table.write(batch([(f"k{number}", "p", 1, number)]), "insert", SMALL_BLOOM)
    commits = table.timeline.commits
    archive_before(table, commits[6].time)
    storage = FaultyStorage(table.base_path)
    folder = table.state().layout.archive_folder
    history = LsmArchive(storage, folder)
    assert storage.log == []
    next(history.newest())
    name = f"{commits[4].time}_{commits[5].time}_0.parquet"
    pointer = [("read", f"{folder}/_version_"), ("read", f"{folder}/manifest_3")]
    assert storage.log == [*pointer, ("open_input", f"{folder}/{name}")]
    storage.log.clear()
    history.completion_times([commits[4].time])
    assert storage.log == [], "nothing is read twice"
    history = LsmArchive(storage, folder)
    assert history.instants(after=commits[1].time, until=commits[3].time)
    assert storage.log == [*pointer, ("open_input", f"{folder}/{commits[2].time}_{commits[3].time}_0.parquet")]


def test_order_and_uniqueness_do_not_depend_on_the_files(tmp_path):
    """Cleans are archived on their own count, so ranges overlap; an interrupted archiver stores instants twice."""
    table = create(tmp_path / "t", FakeClock())
    storage, folder = table.storage, table.state().layout.archive_folder

    def rows(*days):
        times = [f"202601{day:02}000000000" for day in days]
        return lsm_rows([(Instant(t, Action.COMMIT, State.COMPLETED, t), b"x") for t in times])

    add_history(storage, folder, rows(1, 6))
    add_history(storage, folder, rows(2, 3, 9), level=1)
    add_history(storage, folder, rows(3, 4, 5))
    days = [i.time[6:8] for i in LsmArchive(storage, folder).newest()]
    assert days == ["09", "06", "05", "04", "03", "02", "01"]
    assert [i.time[6:8] for i in LsmArchive(storage, folder).instants()] == days[::-1]


def test_no_archive_is_an_empty_one(tmp_path):
    for version, kind in (("9", LsmArchive), ("6", LogArchive)):
        table = create(tmp_path / version, FakeClock(), **{"hoodie.write.table.version": version})
        state = table.state()
        assert isinstance(state.archive, kind)
        assert (state.archive.instants(), list(state.archive.newest())) == ((), [])
        assert state.archive.completion_times(["20260101000000000"]) == {}


def history_files(table):
    folder = table.state().layout.archive_folder
    return {file.name: file.path for file in table.storage.list(folder).files}


def replace(table, path, data):
    table.storage.delete(path)
    if data is not None:
        table.storage.create(path, data)


@pytest.mark.parametrize("table", ["9"], indirect=True)
@pytest.mark.parametrize(
    ("name", "damage", "error"),
    [
        ("manifest_3", lambda data: None, MissingFileError),
        ("manifest_3", lambda data: data[: len(data) // 2], CorruptTableError),
        ("manifest_3", lambda data: b"", CorruptTableError),
        ("manifest_3", lambda data: b'{"files": [{"fileName": "../x"}]}', CorruptTableError),
        ("_0.parquet", lambda data: None, MissingFileError),
        ("_0.parquet", lambda data: data[: len(data) // 2], CorruptTableError),
        ("_0.parquet", lambda data: b"", CorruptTableError),
    ],
)
def test_damage_of_the_history_is_named(table, name, damage, error):
    path = next(path for file, path in sorted(history_files(table).items()) if file.endswith(name))
    replace(table, path, damage(table.storage.read(path)))
    with pytest.raises(error, match=path.rpartition("/")[2]):
        table.state().archive.instants()
    with pytest.raises(error, match="full_scan=True"):
        list(table.state().archive.newest())
    assert table.read().num_rows == 8, "a read that needs nothing archived works"
    assert table.read_incremental("20200101", full_scan=True).num_rows == 8


@pytest.mark.parametrize("table", ["9"], indirect=True)
@pytest.mark.parametrize("content", [None, b"", b"x"])
def test_hudi_died_between_the_two_steps_of_a_new_version(table, content):
    replace(table, history_files(table)["_version_"], content)
    assert len(table.state().archive.instants()) == 6


@pytest.mark.parametrize("table", ["6"], indirect=True)
@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:40] + bytes(20) + data[60:]])
def test_damage_of_an_archive_log_is_named(table, damage):
    path = history_files(table)[".commits_.archive.2_1-0-1"]
    replace(table, path, damage(table.storage.read(path)))
    with pytest.raises(CorruptTableError, match=r"archive\.2_1-0-1"):
        table.state().archive.instants()
    assert table.read().num_rows == 8


@pytest.mark.parametrize("table", ["6"], indirect=True)
@pytest.mark.parametrize("deleted", [0, 1, 3])
def test_merged_archive_logs(table, deleted):
    """A merge that died before its first deletion does not count; after it the merged file does, and entries come twice."""
    files = sorted(name for name in history_files(table) if name.startswith(".commits_"))
    folder = table.state().layout.archive_folder
    whole = b"".join(table.storage.read(f"{folder}/{name}") for name in files)
    merged = ".commits_.archive.4_1-0-1"
    table.storage.create(f"{folder}/{merged}", whole[:-9] if deleted == 0 else whole)
    plan = {"version": 1, "candidate": [f"{table.base_path}/{folder}/{name}" for name in files]}
    table.storage.create(f"{folder}/mergeArchivePlan", merge_plan(plan | {"mergedArchiveFileName": merged}))
    for name in files[:deleted]:
        table.storage.delete(f"{folder}/{name}")
    assert [i.time for i in table.state().archive.instants()] == [i.time for i in table.all[:6]]


@pytest.mark.parametrize("table", ["6"], indirect=True)
def test_a_merge_that_ends_while_the_archive_is_listed(table):
    files = sorted(name for name in history_files(table) if name.startswith(".commits_"))
    folder = table.state().layout.archive_folder
    plan = {"version": 1, "candidate": files, "mergedArchiveFileName": ".commits_.archive.4_1-0-1"}
    table.storage.create(f"{folder}/mergeArchivePlan", merge_plan(plan))

    class Ending(LocalStorage):
        def list(self, path):
            found = super().list(path)
            if path == folder:
                self.delete(f"{folder}/mergeArchivePlan")
            return found

    assert [i.time for i in LogArchive(Ending(table.base_path), folder).instants()] == [i.time for i in table.all[:6]]


def merge_plan(record):
    fields = [
        {"name": "version", "type": ["int", "null"]},
        {"name": "candidate", "type": ["null", {"type": "array", "items": "string"}]},
        {"name": "mergedArchiveFileName", "type": ["null", "string"]},
    ]
    sink = io.BytesIO()
    fastavro.writer(sink, {"type": "record", "name": "HoodieMergeArchiveFilePlan", "fields": fields}, [record])
    return sink.getvalue()


def test_an_instant_that_is_archived_while_we_work_is_still_read(table):
    state = table.state()
    first = state.timeline.commits[0]
    archive(table, [first])
    assert state.commit_metadata(first).extra["n"] == "6"
    gone = table.state()
    table.storage.delete(f"{gone.layout.folder}/{gone.timeline.commits[-1].file_name}")
    with pytest.raises(MissingFileError, match=gone.timeline.commits[-1].time):
        gone.commit_metadata(gone.timeline.commits[-1])


@pytest.mark.format("11o")
@pytest.mark.parametrize("archived", ["12v9", "15v6"])
def test_what_hudi_archived(golden, archived):
    state = HoodieTable.open(str(golden(archived) / "cow_clean")).state()
    instants = state.archive.instants()
    first = state.timeline.start
    commits = [i for i in instants if i.action is Action.COMMIT]
    cleans = [i for i in instants if i.action is Action.CLEAN]
    assert (len(commits), len(cleans)) == ((5, 2) if archived == "12v9" else (6, 4))
    assert all(i.time < first and i.completion_time > i.time for i in commits)
    assert [i.time for i in state.archive.newest()] == [i.time for i in reversed(instants)]
    for instant in commits:
        metadata = state.commit_metadata(instant)
        assert metadata.stats
        assert all(stat.path.endswith(f"{instant.time}.parquet") for stat in metadata.stats)
    assert all(state.archive.clean_result(clean).deleted for clean in cleans)

"""Changes whose files are cleaned, or lost."""

from __future__ import annotations

import re
import shutil
from itertools import count
from pathlib import Path

import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.changes import ChangeQuery, open_changes
from hoodie.engine import LocalEngine
from hoodie.errors import ChangeRangeError, CorruptFileError, MissingFileError
from hoodie.timeline import Action
from hoodie.view.committed_files import memory
from tests.support.archive import archive_before
from tests.support.changes import operations, write
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import SMALL_BLOOM, create


def test_a_cleaned_range_is_refused_and_a_later_one_is_read(table):
    times = [write(table, [("a", "p", n, n), ("b", "q", 1, 1)]) for n in range(1, 6)]
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    if table.properties.is_merge_on_read:
        assert operations(table.read_changes(times[0])), "logs are of the newest slice"
        return
    with pytest.raises(ChangeRangeError, match=r"cannot be read any more.*hoodie\.clean\.commits\.retained"):
        table.read_changes(times[0])
    assert operations(table.read_changes(times[-2])) == [("u", "a", 4, 5)]


def test_a_slice_that_a_commit_continued_was_cleaned(tmp_path):
    """The files that the commit wrote are there. Without the slice before it its updates would be inserts."""
    table = create(tmp_path / "t", FakeClock())
    times = [write(table, [("a", "p", n, n)]) for n in range(1, 6)]
    table.run(CLEAN, {"hoodie.clean.commits.retained": 3})
    assert operations(table.read_changes(times[1])) == [("u", "a", n, n + 1) for n in range(2, 5)]
    with pytest.raises(ChangeRangeError, match=rf"slice {table.timeline.commits[0].time} of file group .* was cleaned"):
        table.read_changes(times[0])


def test_a_replaced_slice_was_cleaned(tmp_path):
    """Without it its deletes would be missing, as in Hudi. The savepoint keeps an older slice, which is another state."""
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1)])
    table.savepoint()
    start = write(table, [("a", "p", 2, 2)])
    write(table, [("b", "p", 3, 3)], "insert_overwrite")
    assert operations(table.read_changes(start)) == [("d", "a", 2, None), ("i", "b", None, 3)]
    write(table, [("b", "p", 4, 4)])
    write(table, [("b", "p", 5, 5)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    with pytest.raises(ChangeRangeError, match="was cleaned"):
        table.read_changes(start)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_replaced_slice_is_cleaned_while_changes_are_read(tmp_path, kind):
    """The clean begins after the timeline was loaded, and is complete when the files are listed."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind})
    start = write(table, [("a", "p", 1, 1), ("c", "q", 1, 1)])
    end = write(table, [("b", "p", 2, 2)], "insert_overwrite")
    state, query = table.state(), ChangeQuery(start, end)
    for number in range(2, 5):
        write(table, [("c", "q", number, number)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    with pytest.raises(ChangeRangeError, match="was cleaned"):
        open_changes(state, query, table.engine).table()
    write(table, [("c", "q", 5, 5)])
    archive_before(table, table.timeline.commits[-1].time)
    with pytest.raises(ChangeRangeError, match="was cleaned"):
        table.read_changes(start, end)


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_clean_that_was_killed_has_taken_a_base_file_and_left_its_log(tmp_path, version):
    """The log alone would make an insert of an update."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    start = write(table, [("a", "p", 1, 1)], "insert")
    (first,) = table.file_slices()
    for value in (2, 3, 4):
        write(table, [("a", "p", value, value)])
        table.schedule(COMPACTION, force=True)
        assert table.run(COMPACTION, SMALL_BLOOM)
    for number in count(1):
        shutil.copytree(table.base_path, tmp_path / str(number))
        dying = HoodieTable(FaultyStorage(str(tmp_path / str(number)), number), LocalEngine(1), table.clock)
        with pytest.raises(Killed):
            dying.run(CLEAN, {"hoodie.clean.commits.retained": 1})
        table = HoodieTable.open(tmp_path / str(number))
        if any(instant.action is Action.CLEAN for instant in table.timeline.pending):
            break
        table = HoodieTable.open(tmp_path / "t")
    assert operations(table.read_changes(start))[0] == ("u", "a", 1, 2)
    (Path(table.base_path) / first.base_file.path).unlink()
    with pytest.raises(ChangeRangeError, match="was cleaned"):
        table.read_changes(start)


def test_a_lost_file_is_named(table):
    start = write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)])
    lost = next(path for file_slice in table.file_slices() for path in file_slice.paths[-1:])
    (Path(table.base_path) / lost).unlink()
    with pytest.raises(MissingFileError, match=lost.rpartition("/")[2]):
        table.read_changes(start)


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("kept", [0, 0.5, None], ids=["empty", "half", "gone"])
@pytest.mark.parametrize("first", [True, False], ids=["of the range", "before the range"])
@pytest.mark.parametrize("archived", [False, True], ids=["active", "archived"])
def test_a_log_that_was_cut_short_or_lost(tmp_path, version, kept, first, archived):
    """Without its rows there would be fewer changes, or inserts in place of updates."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    times = [write(table, [("a", "p", n, n), ("b", "p", n, n)]) for n in range(1, 4)]
    write(table, [("a", "p", 4, 4)])
    start = times[0] if first else times[1]
    log = sorted((tmp_path / "t" / "part=p").glob(".*.log.*"))[0]
    whole = log.read_bytes()
    if archived:
        archive_before(table, table.timeline.commits[-1].time)
        memory.clear()  # as in another process
    right = operations(table.read_changes(start))
    log.unlink()
    if kept is not None:
        log.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(MissingFileError if kept is None else CorruptFileError, match=re.escape(log.name)):
        table.read_changes(start)
    log.write_bytes(whole)
    assert operations(table.read_changes(start)) == right


def test_a_base_file_below_logs_is_lost(tmp_path):
    """The logs alone are a slice, too, in which all updated rows would be new."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    write(table, [("a", "p", 1, 1)])
    start = write(table, [("a", "p", 2, 2)])
    write(table, [("a", "p", 3, 3)])
    path = table.file_slices()[0].base_file.path
    content = table.storage.read(path)
    table.storage.delete(path)
    for position in (start, None):
        with pytest.raises(MissingFileError, match="needed by the changes"):
            table.read_changes(position)
    table.storage.create(path, content)
    assert operations(table.read_changes(start)) == [("u", "a", 2, 3)]


def test_the_only_file_of_a_replaced_group_is_lost(table):
    """Its rows were deleted, and no other file has them."""
    write(table, [("a", "p", 1, 1)])
    start = write(table, [("a", "p", 2, 2), ("b", "p", 2, 2)])
    files = list(table.file_slices()[0].files)
    write(table, [("c", "p", 3, 3)], "insert_overwrite")
    right = operations(table.read_changes(start))
    assert right == [("d", "a", 2, None), ("d", "b", 2, None), ("i", "c", None, 3)]
    for file in files:
        content = table.storage.read(file.path)
        table.storage.delete(file.path)
        with pytest.raises(MissingFileError, match=re.escape(file.info.name)):
            table.read_changes(start)
        table.storage.create(file.path, content)
    assert operations(table.read_changes(start)) == right

"""Writes that die with their markers in a few files: Hudi 1.2.0 rolls ours back, and we roll back Hudi's."""

from __future__ import annotations

import shutil
import threading
import time

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.markers import read_markers
from hoodie.markers.remote import note_alone
from hoodie.model.names import is_data_file
from hoodie.storage import LocalStorage, walk_files
from tests.interop.rows import rows
from tests.interop.test_clean import batch
from tests.interop.test_savepoints import options
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample

pytestmark = pytest.mark.interop
BATCHED = {
    "hoodie.write.markers.type": "timeline_server_based",
    "hoodie.markers.timeline_server_based.batch.interval_ms": 1,
}
CASES = [("9", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("8", "MERGE_ON_READ"), ("6", "COPY_ON_WRITE")]


def data_files(table):
    return {file.path for file in walk_files(table.storage, "") if is_data_file(file.name)}


def copied(table, folder):
    shutil.copytree(table.base_path, folder)
    return HoodieTable.open(str(folder))


def written_half(table, keys):
    """Copies of the table from a write of ours that dies when its files are there."""
    storage = FaultyStorage(table.base_path)
    HoodieTable(storage, LocalEngine(1)).write(batch(9, *keys), "upsert", BATCHED)
    return storage.log


@pytest.mark.parametrize(
    ("version", "table_type", "alone"),
    sample([(*case, alone) for case in CASES if case[0] != "8" for alone in (False, True)], 3, 4),
)
def test_hudi_rolls_back_what_we_have_begun(tmp_path, hudi12, version, table_type, alone):
    """With the server's files, and with those of tasks that had no server. Its next write does so."""
    given = options(version, table_type, **{"hoodie.metadata.enable": "false"})
    path = tmp_path / "t"
    hudi12.write(path, batch(1, "a", "b"), given)
    log = written_half(copied(HoodieTable.open(str(path)), tmp_path / "try"), ("a", "n"))
    last = max(n for n, (name, _) in enumerate(log, 1) if name == "close_output")
    table = HoodieTable.open(str(path))
    before = data_files(table)
    with pytest.raises(Killed):
        HoodieTable(FaultyStorage(path, last + 1), LocalEngine(1)).write(batch(9, "a", "n"), "upsert", BATCHED)
    table.storage.delete(".hoodie/lock")
    (pending,) = table.timeline.pending
    left = data_files(table) - before
    assert len(left) >= 2
    assert left <= read_markers(table.storage, pending.time)
    folder = f".hoodie/.temp/{pending.time}"
    assert table.storage.read(f"{folder}/MARKERS.type") == b"TIMELINE_SERVER_BASED"
    if alone:
        for name in [
            f.path for f in table.storage.list(folder).files if f.name.startswith("MARKERS") and f.name[7:].isdigit()
        ]:
            markers = table.storage.read(name).decode().split()
            table.storage.delete(name)
            for marker in markers:
                note_alone(table.storage, pending.time, marker)
    hudi12.write(path, batch(2, "c"), given)
    assert left.isdisjoint(data_files(table))
    assert not table.timeline.pending
    assert rows(hudi12.read(path)) == rows(table.read())
    assert {row["id"][0] for row in table.read().to_pylist()} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("version", "table_type", "markers"),
    sample([(*case, markers) for case in CASES for markers in ("TIMELINE_SERVER_BASED", "DIRECT")], 0, 3),
)
def test_we_roll_back_what_hudi_has_begun(tmp_path, hudi12, version, table_type, markers):
    """The table as it was in the middle of Hudi's write, whose markers were there: as if it had been killed."""
    given = options(version, table_type, **{"hoodie.metadata.enable": "false", "hoodie.write.markers.type": markers})
    path = tmp_path / "t"
    hudi12.write(path, batch(1, *"abc"), given)
    committed = data_files(HoodieTable.open(str(path)))
    found = _in_the_middle(path, tmp_path, lambda: hudi12.write(path, batch(2, *"abcxyz"), given))
    (pending,) = found.timeline.pending
    noted = read_markers(found.storage, pending.time)
    assert noted, "Hudi's markers are read"
    assert all(is_data_file(file.rpartition("/")[2]) for file in noted)
    HoodieTable.open(found.base_path).write(batch(3, "d"), "upsert")
    state = HoodieTable.open(found.base_path)
    assert {row["id"][0] for row in state.read().to_pylist()} == set("abcd")
    assert not state.timeline.pending
    assert list(walk_files(state.storage, ".hoodie/.temp")) == []
    stats = {stat.path for commit in state.timeline.commits for stat in state.state().commit_metadata(commit).stats}
    assert data_files(state) <= committed | stats
    assert rows(hudi12.read(found.base_path)) == rows(state.read())


def _in_the_middle(path, tmp_path, write):
    """A copy of the table that has an inflight instant with markers."""
    done, copies = threading.Event(), []

    def watch():
        storage, number = LocalStorage(str(path)), 0
        while not done.is_set():
            if any("MARKERS0" in f.name or ".marker." in f.name for f in walk_files(storage, ".hoodie/.temp")):
                number += 1
                target = tmp_path / f"copy{number}"
                try:
                    shutil.copytree(path, target)
                except (OSError, shutil.Error):
                    continue
                table = HoodieTable.open(str(target))
                pending = table.timeline.pending
                if len(pending) == 1 and read_markers(table.storage, pending[0].time):
                    copies.append(table)
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        write()
    finally:
        done.set()
        watcher.join()
    assert copies, "no look was quick enough"
    return copies[-1]

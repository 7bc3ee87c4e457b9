"""The next writer removes the files of killed processes, and keeps those that a living one uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hoodie import COMPACTION, Rollback
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.storage import LocalStorage, walk_files
from hoodie.timeline import Action
from hoodie.transaction import instants
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

FILE = "part=p/11111111-1111-1111-1111-111111111111-0_0-0-0_{}.parquet"
DIE = """
import os, sys
from hoodie.storage import LocalStorage
storage, real = LocalStorage(sys.argv[1]), os.link
os.link = lambda *_, **__: os.kill(os.getpid(), 9)
if sys.argv[3] == "create":
    storage.create(sys.argv[2], b"x")
with storage.open_output(sys.argv[2]) as sink:
    sink.write(b"x")
"""


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


def die(table, path, verb="create"):
    """A process that is killed right before the file gets its name."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", DIE, table.base_path, path, verb], env=environment, check=False)
    assert done.returncode == -9


def unfinished(table):
    return sorted(str(path.relative_to(table.base_path)) for path in table.storage._root.rglob(".tmp-*"))


def write(table, key="z"):
    table.write(batch([(key, "p", 9, 9)]), "upsert", SMALL_BLOOM)


def test_unfinished_metadata_goes_with_the_next_write(table):
    for folder in {".hoodie", table.state().layout.folder, ".hoodie/.locks"}:
        die(table, f"{folder}/whatever")
    assert unfinished(table)
    write(table)
    assert unfinished(table) == []
    assert set(content(table)) == {"a", "z"}


@pytest.mark.parametrize("verb", ["create", "open_output"])
def test_unfinished_data_goes_with_the_rollback_of_its_write(table, verb):
    time = "20260601000000000"
    state = table.state()
    instants.start(state, instants.request(state, time, Action.COMMIT))
    DirectMarkers(table.storage, time).create(FILE.format(time), MarkerType.CREATE)
    die(table, FILE.format(time) if verb == "open_output" else "part=p/.hoodie_partition_metadata_", verb)
    assert unfinished(table)
    write(table)
    assert unfinished(table) == []
    assert table.timeline.pending == ()


def test_what_a_living_process_writes_stays(table):
    storage = LocalStorage(table.base_path)
    with storage.open_output(".hoodie/long") as sink:
        sink.write(b"half")
        write(table)
        assert len(unfinished(table)) == 1
        sink.write(b" and half")
    assert storage.read(".hoodie/long") == b"half and half"


def test_markers_of_completed_and_of_forgotten_instants_go_with_the_next_write(table):
    """Markers of a completed one with the files of lost attempts, and of one that was rolled back with its tasks' files."""
    write(table, "b")
    (commit, done) = table.timeline.commits
    for time in (commit.time, "20260601000000000"):
        for name in (FILE.format(time), f"part=p/.11111111-1111-1111-1111-111111111111-0_{time}.log.1_0-0-0"):
            DirectMarkers(table.storage, time).create(name, MarkerType.CREATE)
        table.storage.create(FILE.format(time), b"of a lost attempt")
    (kept,) = table.state().commit_metadata(done).stats
    DirectMarkers(table.storage, done.time).create(kept.path, MarkerType.MERGE)
    old = "20200101000000000"  # before the timeline: it may have been archived as complete
    perhaps = FILE.format(old).replace("part=p", "part=q")
    DirectMarkers(table.storage, old).create(perhaps, MarkerType.CREATE)
    table.storage.create(perhaps, b"of an archived commit, for all that is known")
    write(table)
    assert table.storage.list(".hoodie/.temp").folders == ()
    names = {file.path for file in walk_files(table.storage, "part=p")}
    assert kept.path in names
    assert table.storage.info(perhaps) is not None
    assert not names & {FILE.format(commit.time), FILE.format("20260601000000000")}


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_log_that_a_writer_finished_after_it_was_rolled_back(tmp_path, version):
    """Its own look gave no answer. The blocks in its log show the writers that the name does not show."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    for step in (2, 3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    (*_, kept, gone) = table.timeline.commits
    logs = {each.time: table.state().commit_metadata(each).stats[0].path for each in (kept, gone)}
    data = table.storage.read(logs[gone.time])
    table.run(Rollback(gone.time))
    assert table.storage.info(logs[gone.time]) is None
    table.storage.create(logs[gone.time], data)
    for path in logs.values():  # the other log belongs to a commit, even if a marker names it
        DirectMarkers(table.storage, gone.time).create(path, MarkerType.APPEND)
    write(table)
    assert table.storage.info(logs[gone.time]) is None
    assert table.storage.info(logs[kept.time]) is not None
    assert content(table) == {"a": ("p", 2, 2), "z": ("p", 9, 9)}
    assert table.storage.list(".hoodie/.temp").folders == ()


def test_markers_of_a_pending_compaction_stay(tmp_path):
    options = {"hoodie.table.type": "MERGE_ON_READ"}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1)]), "insert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    table.write(batch([("a", "p", 2, 2)]), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    time = table.schedule(COMPACTION, force=True)
    DirectMarkers(table.storage, time).create(FILE.format(time), MarkerType.MERGE)
    table.storage.create(FILE.format(time), b"being written")
    write(table)
    assert table.storage.list(".hoodie/.temp").folders == (f".hoodie/.temp/{time}",)
    assert table.storage.info(FILE.format(time)) is not None

"""A table whose timeline is lost is refused: it must not read as one without rows."""

from __future__ import annotations

import shutil

import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.dataset import HoodieDataset
from hoodie.errors import CorruptTableError
from hoodie.sql import connect
from hoodie.storage import ListingCache, LocalStorage
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view import load_state
from hoodie.view.timeline_check import find_data_file
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.tables import batch, create

ROWS = [("a", "p", 1, 1), ("b", "q", 1, 1)]


def lose_timeline(path):
    for file in [*path.glob(".hoodie/2*"), *path.glob(".hoodie/timeline/2*")]:
        file.unlink()


def lose_folder(path):
    lose_timeline(path)
    for name in ("timeline", "archived"):
        shutil.rmtree(path / ".hoodie" / name, ignore_errors=True)


@pytest.fixture(params=["9", "6"])
def lost(request, tmp_path):
    """A table with two partitions that is read and written, and has no instant any more."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    table.write(batch(ROWS))
    lose_folder(tmp_path / "t")
    return table


def test_nothing_reads_or_changes_it(lost):
    calls = (
        lost.read,
        lambda: lost.read_incremental("20200101000000000"),
        lost.read_changes,
        lost.file_slices,
        lambda: lost.write(batch(ROWS)),
        lambda: lost.delete_partitions(["part=p"]),
        lambda: lost.run(CLEAN),
        lambda: lost.explain(CLEAN),
        lost.savepoint,
        lambda: lost.consumer("c").read(),
        lambda: HoodieDataset(lost),
        lambda: HoodieTable.open(lost.base_path),
    )
    before = lost.storage.list("part=p")
    for call in calls:
        with pytest.raises(
            CorruptTableError, match=r"lost its timeline. Found: no instant in .hoodie.*restore the files"
        ):
            call()
    assert lost.storage.list("part=p") == before
    assert {finding.check for finding in lost.diagnose().findings} >= {"lost-timeline"}


def test_sql_refuses_it(lost, tmp_path):
    with connect(tmp_path) as db:
        for statement in ("SELECT * FROM t", "DELETE FROM t WHERE id = 'a'", "INSERT INTO t VALUES ('c', 1, 1, 'p')"):
            with pytest.raises(CorruptTableError, match="lost its timeline"):
                db.sql(statement)


def test_files_of_a_lost_mark_count_and_those_of_other_programs_do_not(lost, tmp_path):
    for mark in tmp_path.glob("t/*/.hoodie_partition_metadata"):
        mark.unlink()
    with pytest.raises(CorruptTableError, match="part="):
        lost.read()
    for name in ("part=p", "part=q"):
        (tmp_path / "t" / name).rename(tmp_path / name)
    (tmp_path / "t/landing").mkdir()
    for name in ("sales_eu_2026.csv", "a_b_20260101.parquet", ".x_2026.log.1"):
        (tmp_path / "t/landing" / name).write_bytes(b"x")
    create(tmp_path / "t/inner", FakeClock()).write(batch(ROWS))
    assert lost.read().num_rows == 0


def test_logs_without_a_base_file_count(tmp_path):
    (tmp_path / ".aaaa-0_20260101000000000.log.1_0-1-2").write_bytes(b"x")
    file = find_data_file(LocalStorage(str(tmp_path)))
    assert file is not None
    assert file.name.startswith(".aaaa-0")


def test_a_new_table_costs_one_listing_and_is_empty(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    storage = CountingStorage(tmp_path / "t")
    assert not load_state(storage, FakeClock()).timeline.instants
    assert storage.listed == [".hoodie/timeline", ""]
    table.write(batch(ROWS))
    storage.listed.clear()
    load_state(storage, FakeClock())
    assert storage.listed == [".hoodie/timeline"]


@pytest.mark.parametrize("cached", [False, True])
def test_a_first_write_that_comes_between_the_listings_is_seen(tmp_path, cached):
    table = create(tmp_path / "t", FakeClock())

    class Overtaken(LocalStorage):
        def list(self, folder):
            if folder == "" and not table.timeline.instants:
                table.write(batch(ROWS))
            return super().list(folder)

    storage = Overtaken(str(tmp_path / "t"))
    state = load_state(ListingCache(storage) if cached else storage, FakeClock())
    assert state.timeline.last_commit is not None


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_first_write_that_is_at_work_leaves_an_empty_table(tmp_path, version):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    state = table.state()
    time = new_time(state, table.clock)
    instants.start(state, instants.request(state, time, Action.COMMIT))
    (tmp_path / "t/part=p").mkdir()
    (tmp_path / f"t/part=p/aaaa-0_0-1-2_{time}.parquet").write_bytes(b"x")
    assert table.read().num_rows == 0


def test_a_truncated_table_is_empty(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch(ROWS))
    table.truncate()
    assert table.read().num_rows == 0


def test_a_state_that_is_loaded_again_refuses_it(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch(ROWS))
    state = table.state()
    lose_timeline(tmp_path / "t")
    with pytest.raises(CorruptTableError, match="lost its timeline"):
        state.reloaded()

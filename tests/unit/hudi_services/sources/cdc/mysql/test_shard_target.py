"""A large table of several that become one Hudi table is read in chunks: a run that was killed goes on after the last commit."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from itertools import count
from threading import Lock

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.mysql import group_load, snapshot_load
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.shard_target import ShardTarget
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.row_filter import RowFilter
from tests.support.faulty import FaultyStorage, Killed
from tests.unit.hudi_services.sources.cdc.mysql.test_group_load import APPLY, NoCuts, Shards, shards
from tests.unit.hudi_services.sources.cdc.mysql.test_stored_rows import COLUMNS, SHARDS, Lake

__all__ = ["shards"]
pytestmark = pytest.mark.process
ROWS = 30


@pytest.fixture
def large(shards, monkeypatch):
    """Two tables with many rows beside a small one. Commits take six rows, chunks two."""
    monkeypatch.setattr(snapshot_load, "GROUP_ROWS", 6)
    monkeypatch.setattr(snapshot_load, "CHUNK_ROWS", 2)
    monkeypatch.setattr(group_load, "GROUP_ROWS", 3)
    shards.run(
        f"INSERT INTO s1 SELECT 100 + seq, CONCAT('r', seq) FROM seq_1_to_{ROWS - 2}",
        "INSERT INTO s2 SELECT 100 + seq, CONCAT('r', seq) FROM seq_1_to_8",
        "UPDATE s2 SET id = id + 1000",
        "UPDATE s3 SET id = id + 2000",
    )
    return shards


@pytest.fixture
def chunks(monkeypatch):
    """The number of chunks so far, and statements that run before a chunk of that number."""
    read, lock = snapshot_load.read_chunk, Lock()

    class Chunks:
        def __init__(self):
            self.count, self.before = 0, {}

        def read(self, connection, source, chunk):
            with lock:
                self.count += 1
                self.before.pop(self.count, lambda: None)()
            return read(connection, source, chunk)

    counted = Chunks()
    monkeypatch.setattr(snapshot_load, "read_chunk", counted.read)
    return counted


def place(shards, name="s1"):
    stored = shards.target().stored_position()
    return stored.tables.get(f"{shards.database}.{name}") if stored is not None else None


def killed(shards, fail_at):
    """Load until the storage fails at a call. Return how many rows of the first table are there, None without a failure."""
    with suppress(Killed):
        storage = FaultyStorage(shards.path, fail_at, "kill", False)
        shards.sync(storage=storage, cuts=NoCuts(shards.cuts.storage, "shop"), resume=shards.names)
        return None
    at = place(shards)
    return at.snapshot.rows if at is not None and at.is_loading else 0


def interrupted(shards, chunks, at):
    """Load until a chunk of the first table cannot be read. Return the states."""

    def fail():
        raise Killed

    chunks.before = {chunks.count + at: fail}
    with pytest.raises(Killed):
        shards.sync(cuts=NoCuts(shards.cuts.storage, "shop"))
    assert place(shards).is_loading


def current(shards, **arguments):
    result = shards.sync(**arguments)
    assert set(shards.states(result).values()) == {"current"}, shards.states(result)
    return result


@pytest.mark.parametrize("statistics", [True, False])
def test_small_tables_share_commits_and_large_ones_have_their_own(large: Shards, chunks, statistics):
    """Without statistics the server takes the tables for small ones."""
    if statistics:
        large.run("ANALYZE TABLE s1, s2, s3")
    large.run("ALTER TABLE s3 ADD n BIGINT", "UPDATE s3 SET n = 5000000000", "ALTER TABLE s2 ADD n INT, ADD own INT")
    result = current(large)
    assert {name: table.load.rows for name, table in result.items()} == {"s1": ROWS, "s2": 10, "s3": 2}
    assert large.commits == 1 + ROWS // 6 + 2 + 1, "the last one says that the tables are equal"
    assert chunks.count >= ROWS // 2
    large.assert_equal("id", "v", "n", "own")
    large.run("UPDATE s1 SET v = 'later' WHERE id > 120", "DELETE FROM s2 WHERE id = 1001", "DELETE FROM s3")
    current(large)
    large.assert_equal("id", "v", "n", "own")


@pytest.mark.parametrize("global_keys", [False, True])
def test_kills_at_storage_calls_between_changes_lose_and_double_nothing(large, global_keys):
    large.global_keys = global_keys
    draw, resumed = random.Random(33), 0
    for number, fail_at in enumerate((75, 130, 160, 190)):
        shutil.rmtree(large.path, ignore_errors=True)
        shutil.rmtree(large.cuts.storage.base_path, ignore_errors=True)
        loaded = killed(large, fail_at)
        assert loaded is not None
        key = 100 + draw.randrange(ROWS)
        large.run(
            "BEGIN",
            f"UPDATE s1 SET v = 'u{fail_at}' WHERE id BETWEEN {key} AND {key + 3}",
            f"UPDATE IGNORE s1 SET id = {key + 500 * draw.choice([-1, 1])} WHERE id = {key + 4}",
            f"DELETE FROM s1 WHERE id = {100 + draw.randrange(ROWS)}",
            f"INSERT IGNORE INTO s1 VALUES ({100 + draw.randrange(ROWS)}, 'new')",
            "UPDATE s2 SET v = 'beside'",
            "COMMIT",
        )
        if number == 2:
            again = killed(large, draw.randrange(60, 200))
            loaded = loaded if again is None else again
        result = current(large, resume=large.names)
        large.assert_equal()
        resumed += bool(loaded) and result["s1"].load.rows < ROWS - 5
    assert resumed


def test_changes_of_keys_across_chunks(large, chunks):
    chunks.before = {
        3: lambda: large.run("UPDATE s1 SET id = 901 WHERE id = 101", "UPDATE s1 SET id = 3 WHERE id = 120"),
        6: lambda: large.run("DELETE FROM s1 WHERE id = 901", "INSERT INTO s1 VALUES (101, 'again')"),
    }
    current(large)
    assert not chunks.before
    large.assert_equal()


def test_statements_about_a_table_while_it_is_read(large, chunks):
    interrupted(large, chunks, 8)
    large.run("TRUNCATE s1", "INSERT INTO s1 VALUES (7, 'only')", "UPDATE s2 SET v = 'x'")
    result = large.sync()
    assert large.states(result) == {"s1": "parked", "s2": "current", "s3": "current"}
    large.policies = APPLY
    current(large, resume=["s1"])
    large.assert_equal()


@pytest.mark.parametrize("policies", [{}, APPLY])
def test_a_table_whose_columns_changed_while_it_was_read_is_read_again(large, chunks, policies):
    interrupted(large, chunks, 8)
    large.policies = policies
    large.run("ALTER TABLE s1 ADD n INT NOT NULL DEFAULT 7, MODIFY v VARCHAR(30)", "UPDATE s2 SET v = 'x'")
    result = large.sync()
    assert large.states(result) == {"s1": "current" if policies else "parked", "s2": "current", "s3": "current"}
    if not policies:
        assert f"--resume {large.database}.s1 --start-fresh" in result["s1"].fix
        current(large, fresh=["s1"])
    large.assert_equal("id", "v", "n")


@pytest.mark.parametrize("global_keys", [False, True])
def test_a_fresh_start_reads_chunks_and_replaces_the_rows_of_one_table_at_once(large, chunks, tmp_path, global_keys):
    large.global_keys = global_keys
    (tmp_path / "spill").mkdir()
    large.options = {"hoodie.memory.spillable.map.path": str(tmp_path / "spill")}
    current(large)
    large.run("DELETE FROM s1 WHERE id > 115", "TRUNCATE s2", "INSERT INTO s2 SELECT 5000 + seq, 'n' FROM seq_1_to_9")
    assert large.sync()["s2"].state == "parked"
    large.run("UPDATE s3 SET v = 'beside'")
    commits, old, seen = large.commits, large.lake_rows("id"), []

    def look():
        seen.append((large.lake_rows("id") == old, bool(list((tmp_path / "spill").iterdir()))))
        large.run("UPDATE s2 SET id = 6000 WHERE id = 5001")

    chunks.before = {chunks.count + 4: look}
    result = current(large, fresh=["s2"])
    assert (seen, result["s2"].load.rows, list((tmp_path / "spill").iterdir())) == ([(True, True)], 9, [])
    assert large.commits == commits + 2, "one with the rows, one with later changes"
    large.assert_equal()


def test_a_fresh_start_that_is_killed_leaves_the_old_rows(large, chunks):
    current(large)
    old = large.lake_rows("id", "v")
    large.run("UPDATE s1 SET v = 'new'")
    with pytest.raises(Killed):
        large.sync(storage=FaultyStorage(large.path, 40, "kill", False), fresh=["s1"])
    assert large.lake_rows("id", "v") == old
    current(large, fresh=["s1"])
    large.assert_equal()


def test_a_table_that_cannot_be_read_leaves_the_others_alone(large, chunks):
    chunks.before = {4: lambda: large.run("ALTER TABLE s1 ADD n INT")}
    result = large.sync()
    assert large.states(result) == {"s1": "parked", "s2": "current", "s3": "current"}
    assert large.sync(fresh=["s1"])["s1"].state == "current"
    large.assert_equal("id", "v", "n")


def test_keys_that_are_global_stop_a_chunk_whose_row_another_table_has(large):
    large.global_keys = True
    large.run("INSERT INTO s3 VALUES (128, 'other')")
    result = large.sync()
    assert large.states(result) == {"s1": "parked", "s2": "current", "s3": "current"}
    assert "rows of one key" in result["s1"].reason
    large.run("DELETE FROM s3 WHERE id = 128")
    large.sync()
    result = current(large, resume=["s1"])
    assert 0 < result["s1"].load.rows < ROWS, "it goes on after the last chunk"
    large.assert_equal()


def test_masks_and_conditions_hold_in_chunks(large):
    large.masks, large.filter = Masks({"v": "hash"}, "key"), RowFilter("id > 105")
    current(large)
    rows = large.lake_rows("id", "v")
    assert [row[:3] for row in rows] == [row for row in large.server_rows("id") if row[2] > 105]
    assert all(len(row[3]) == 64 for row in rows)


def test_the_position_that_a_commit_holds_is_the_one_that_the_run_goes_on_with(tmp_path):
    lake, numbers = Lake(str(tmp_path / "lake"), {}), count(1)
    target = ShardTarget(SHARDS[0], TargetCommits(lake.target, lake.at))
    rows = pa.RecordBatchReader.from_batches(COLUMNS, [])
    target.write_rows(rows, None, None, lambda: StoredPosition(SHARDS[0].source, f"log:{next(numbers)}", "one"))
    assert target.commits.stored == lake.target.stored_position()

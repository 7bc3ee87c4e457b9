"""`hoodie.index.type=GLOBAL_SIMPLE`: a key is there once in the table, and moves with its row; as measured with Hudi 1.2.0."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION
from hoodie.errors import ConfigError, DuplicateKeyError, KnownKeyError, WriteConflictError
from tests.support.clock import FakeClock
from tests.support.engines import OtherProcesses
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create

MOVES = "hoodie.simple.index.update.partition.path"
GLOBAL = {**SMALL_BLOOM, "hoodie.index.type": "GLOBAL_SIMPLE"}
STAYS = {**GLOBAL, MOVES: "false"}
FIRST = [("a", "p", 10, 1), ("b", "p", 10, 1), ("c", "q", 10, 1), ("d", "p", 10, 1)]
CHANGE = [("a", "q", 20, 2), ("b", "q", 5, 2), ("c", "q", 20, 2), ("n", "q", 1, 2)]
TYPES = ["COPY_ON_WRITE", "MERGE_ON_READ"]


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


@pytest.fixture(params=TYPES)
def kind(request):
    return request.param


@pytest.fixture(params=["meta", "virtual"])
def keys(request):
    return request.param


@pytest.fixture
def table(tmp_path, version, kind):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    made.write(batch(FIRST), "upsert", GLOBAL)
    return made


def folders(table):
    """id -> the partition whose folder holds its row"""
    return {
        row["id"]: row["_hoodie_partition_path"]
        for row in table.read(columns=["id", "_hoodie_partition_path"]).to_pylist()
    }


def test_keys_move_with_rows_that_are_not_older(table):
    commits = len(table.timeline.commits)
    done = table.write(batch(CHANGE), "upsert", GLOBAL)
    assert len(table.timeline.commits) == commits + 1
    moved = {"a": ("q", 20, 2), "b": ("p", 10, 1), "c": ("q", 20, 2), "d": ("p", 10, 1), "n": ("q", 1, 2)}
    assert content(table) == moved
    assert {folders(table)[key] for key in "acn"} == {"part=q"}
    assert (done.rows_deleted, done.rows_known) == (1, 0)
    table.write(batch([("d", "q", 10, 3)]), "upsert", GLOBAL)
    assert content(table)["d"] == ("q", 10, 3), "of equals the later"
    table.write(batch([("a", "p", 30, 4)]), "upsert", GLOBAL)
    assert content(table) == moved | {"d": ("q", 10, 3), "a": ("p", 30, 4)}, "back in the partition that it left"
    table.write(batch([("a", "p", 31, 5), ("d", "q", 11, 5)]), "upsert", GLOBAL)
    assert content(table) == moved | {"d": ("q", 11, 5), "a": ("p", 31, 5)}
    if table.properties.is_merge_on_read:
        table.run(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
        assert content(table) == moved | {"d": ("q", 11, 5), "a": ("p", 31, 5)}


def test_keys_stay_where_they_are(table):
    table.write(batch(CHANGE), "upsert", STAYS)
    table.write(batch([("d", "q", 10, 3)]), "upsert", STAYS)
    stayed = {"a": ("p", 20, 2), "b": ("p", 10, 1), "c": ("q", 20, 2), "d": ("p", 10, 3), "n": ("q", 1, 2)}
    assert content(table) == stayed, "also the column says where the row is, as Hudi's Spark reads it"
    assert folders(table) == {key: f"part={part}" for key, (part, _, _) in stayed.items()}
    table.write(batch([("a", "q", 21, 3), ("a", "r", 22, 4)]), "upsert", STAYS)
    assert content(table) == stayed | {"a": ("p", 22, 4)}


@pytest.mark.parametrize("options", [GLOBAL, STAYS])
def test_a_deletion_finds_its_key_in_any_partition(table, options):
    table.write(batch([("c", "p", 0, 9), ("x", "p", 0, 9)]), "delete", options)
    assert sorted(content(table)) == ["a", "b", "d"]
    table.write(batch([("c", "p", 1, 5)]), "upsert", options)
    assert content(table)["c"] == ("p", 1, 5), "a deleted key has no partition, and its row no older one"
    mark = pa.array([True, False])
    rows = batch([("a", "q", 30, 6), ("c", "r", 30, 6)]).append_column("gone", mark)
    table.write(rows, "upsert", options, deletions="gone")
    assert content(table) == {"b": ("p", 10, 1), "d": ("p", 10, 1), "c": ("r" if options is GLOBAL else "p", 30, 6)}


def test_a_key_that_has_moved_does_not_come_back_where_it_was(table):
    """Its old row is in the base file that it has left, which logs are not to bring back."""
    table.write(batch([("a", "q", 20, 2)]), "upsert", GLOBAL)
    table.write(batch([("a", "r", 21, 3)]), "upsert", STAYS)
    assert content(table)["a"] == ("q", 21, 3)
    table.write(batch([("a", "p", 22, 4)]), "upsert", GLOBAL)
    assert content(table)["a"] == ("p", 22, 4)


@pytest.mark.parametrize("options", [GLOBAL, STAYS])
def test_marked_rows_delete_unless_they_are_older(tmp_path, version, kind, options):
    def rows(entries, deleted):
        return batch(entries).append_column("_hoodie_is_deleted", pa.array([deleted] * len(entries)))

    table = create(tmp_path / "t", **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    table.write(rows(FIRST, False), "upsert", options)
    table.write(rows([("a", "q", 20, 2), ("b", "q", 5, 2)], True), "upsert", options)
    assert sorted(content(table)) == ["b", "c", "d"]


def test_one_row_of_a_key_in_several_partitions_of_the_input(table):
    done = table.write(batch([("x", "p", 5, 5), ("x", "q", 7, 6)]), "upsert", GLOBAL)
    assert content(table)["x"] == ("q", 7, 6)
    assert done.rows_combined == 1


def test_a_key_that_stands_in_several_partitions_stands_in_one_again(table):
    table.write(batch([("a", "r", 15, 2), ("b", "q", 30, 2)]), "insert", SMALL_BLOOM)
    assert table.read().num_rows == 6
    table.write(batch([("a", "s", 20, 3), ("b", "s", 20, 3)]), "upsert", GLOBAL)
    assert content(table) == {"a": ("s", 20, 3), "b": ("q", 30, 2), "c": ("q", 10, 1), "d": ("p", 10, 1)}


def test_other_processes_and_virtual_keys(tmp_path, kind):
    options = {"hoodie.table.type": kind, "hoodie.populate.meta.fields": "false"}
    table = create(tmp_path / "t", engine=OtherProcesses(2), **options)
    table.write(batch(FIRST), "upsert", GLOBAL)
    table.write(batch(CHANGE), "upsert", GLOBAL)
    table.write(batch([("d", "q", 11, 7)]), "upsert", STAYS)
    moved = {"a": ("q", 20, 2), "b": ("p", 10, 1), "c": ("q", 20, 2), "d": ("p", 11, 7), "n": ("q", 1, 2)}
    assert content(table) == moved


def test_known_keys_of_other_partitions(table):
    policy = "hoodie.datasource.insert.dup.policy"
    rows = batch([("a", "q", 20, 2), ("n", "q", 1, 2)])
    with pytest.raises(KnownKeyError, match="'a'"):
        table.write(rows, "insert", {**GLOBAL, policy: "fail"})
    done = table.write(rows, "insert", {**GLOBAL, policy: "drop"})
    assert (done.rows_known, done.rows_inserted) == (1, 1)
    assert content(table)["a"] == ("p", 10, 1)


def test_rows_that_fill_each_other_and_index_types_that_are_not_here(tmp_path):
    payload = "org.apache.hudi.common.model.PartialUpdateAvroPayload"
    table = create(tmp_path / "t", **{"hoodie.datasource.write.payload.class": payload})
    with pytest.raises(ConfigError, match=r"GLOBAL_SIMPLE is not for table 'trips', whose rows fill each other"):
        table.write(batch(FIRST), "upsert", GLOBAL)
    for other, reason in {"RECORD_INDEX": "metadata table", "INMEMORY": "memory", "wrong": "one of SIMPLE"}.items():
        with pytest.raises(ConfigError, match=reason):
            table.write(batch(FIRST), "upsert", {**SMALL_BLOOM, "hoodie.index.type": other})


def test_rows_without_ordering_always_move(tmp_path, kind):
    table = create(tmp_path / "t", **{"hoodie.table.type": kind, "hoodie.table.ordering.fields": ""})
    table.write(batch(FIRST), "upsert", GLOBAL)
    table.write(batch([("a", "q", 1, 2)]), "upsert", GLOBAL)
    assert content(table)["a"] == ("q", 1, 2)


@pytest.mark.parametrize("operation", ["insert", "bulk_insert", "upsert"])
def test_two_writers_of_one_new_key_in_two_partitions(tmp_path, kind, operation):
    """Neither touches a file group of the other."""
    table = create(tmp_path / "t", QuickClock(), **{"hoodie.table.type": kind})
    table.write(batch(FIRST), "upsert", GLOBAL)
    options = {
        **GLOBAL,
        **OCC,
        "hoodie.write.num.retries.on.conflict.failures": 0,
        "hoodie.parquet.small.file.limit": 0,
    }
    loser = Rival(tmp_path / "t", lambda other: other.write(batch([("n", "p", 2, 2)]), operation, options)).begin()
    shared(tmp_path / "t").write(batch([("n", "q", 1, 1)]), "upsert", {**OCC, **GLOBAL})
    error = loser.finish()
    assert isinstance(error, WriteConflictError | DuplicateKeyError)
    assert "has inserted one of its keys" in str(error)
    assert content(table)["n"] == ("q", 1, 1)

"""Keys that a log has deleted: they are stored, and the table does not have them."""

from __future__ import annotations

import random

import pytest

from hoodie import COMPACTION
from hoodie.errors import KnownKeyError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

POLICY = "hoodie.datasource.insert.dup.policy"
MERGE_ON_READ = {"hoodie.table.type": "MERGE_ON_READ"}


def options(index, small_files=0):
    return {**SMALL_BLOOM, "hoodie.index.type": index, "hoodie.parquet.small.file.limit": small_files}


def stored(table):
    return sorted((row["id"], row["part"], row["value"]) for row in table.read().to_pylist())


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM"])
@pytest.mark.parametrize("insert", ["insert", "bulk_insert"])
def test_a_key_that_is_inserted_again_after_its_deletion_is_updated_once(tmp_path, index, insert):
    table = create(tmp_path, FakeClock(), **MERGE_ON_READ)
    write = options(index)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", write)
    table.write(batch([("a", "p", 2, 2)]), "delete", write)
    table.write(batch([("a", "p", 3, 3)]), insert, write)
    result = table.write(batch([("a", "p", 4, 4), ("b", "p", 4, 4)]), "upsert", write)
    assert (result.rows_updated, result.rows_inserted) == (2, 0)
    assert stored(table) == [("a", "p", 4), ("b", "p", 4)]
    table.write(batch([("a", "p", 5, 5)]), "delete", write)
    assert stored(table) == [("b", "p", 4)]
    table.write(batch([("a", "p", 6, 6)]), "upsert", write)  # its places are deleted, all of them
    assert stored(table) == [("a", "p", 6), ("b", "p", 4)]


def test_a_key_that_moved_away_and_back_is_updated_once(tmp_path):
    table = create(tmp_path, FakeClock(), **MERGE_ON_READ)
    moving = {**options("GLOBAL_SIMPLE"), "hoodie.simple.index.update.partition.path": "true"}
    for number, part in enumerate("pqp", 1):
        table.write(batch([("a", part, number, number)]), "upsert", moving)
    table.write(batch([("a", "p", 4, 4)]), "upsert", options("SIMPLE"))
    assert stored(table) == [("a", "p", 4)]


def test_rows_of_a_key_that_an_insert_has_doubled_are_all_updated(tmp_path):
    table = create(tmp_path, FakeClock(), **MERGE_ON_READ)
    for number in (1, 2):
        table.write(batch([("a", "p", number, number)]), "insert", options("SIMPLE"))
    table.write(batch([("a", "p", 3, 3)]), "upsert", options("SIMPLE"))
    table.write(batch([("a", "p", 4, 4)]), "upsert", options("SIMPLE"))
    assert stored(table) == [("a", "p", 4), ("a", "p", 4)]


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_SIMPLE"])
def test_a_deleted_key_is_not_known_to_an_insert(tmp_path, index):
    table = create(tmp_path, FakeClock(), **MERGE_ON_READ)
    write = options(index)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "upsert", write)
    table.write(batch([("a", "p", 2, 2)]), "delete", write)
    table.write(batch([("a", "p", 3, 3), ("b", "p", 3, 3)]), "insert", {**write, POLICY: "drop"})
    assert stored(table) == [("a", "p", 3), ("b", "p", 1)]
    with pytest.raises(KnownKeyError, match="'a'"):
        table.write(batch([("a", "p", 4, 4)]), "insert", {**write, POLICY: "fail"})


@pytest.mark.parametrize("version", ["6", "9"])
def test_inserts_between_deletes_and_upserts(tmp_path, version):
    """A history at random beside a dict; inserts take keys that the table does not have."""
    dice = random.Random(int(version))
    table = create(tmp_path, FakeClock(), **MERGE_ON_READ, **{"hoodie.write.table.version": version})
    model: dict[str, tuple[str, int]] = {}
    for step in range(1, 25):
        write = options(dice.choice(["SIMPLE", "BLOOM"]), dice.choice([0, 1 << 20]))
        operation = dice.choice(["insert", "bulk_insert", "upsert", "delete", "compact"])
        if operation == "compact":
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION, SMALL_BLOOM)
            continue
        keys = dice.sample("abcdef", 3)
        if "insert" in operation:
            keys = [key for key in keys if key not in model]
        rows = [(key, "p" if key < "d" else "q", step, step) for key in keys]
        if rows:
            table.write(batch(rows), operation, write)
        for key, part, _, value in rows:
            if operation == "delete":
                model.pop(key, None)
            else:
                model[key] = part, value
        assert stored(table) == sorted((key, *row) for key, row in model.items()), (step, operation)

"""How many tasks a write has, and what it says when their memory will not do."""

from __future__ import annotations

import logging

import pytest

from hoodie.config.key import resolve
from hoodie.config.keys.write import WRITE_KEYS
from hoodie.config.operations import operation_named
from hoodie.engine import LocalEngine
from hoodie.write.sizing import input_tasks, memory_advice, shuffle_tasks, too_many_tasks
from tests.support.tables import SMALL_BLOOM, batch, create

GIB, MIB = 1 << 30, 1 << 20
KEYS = {"insert": "insert", "bulk_insert": "bulkinsert", "upsert": "upsert", "delete": "delete"}


@pytest.mark.parametrize("operation", KEYS)
def test_tasks_by_option_else_by_size_and_cores(operation):
    unset, given = resolve({}, WRITE_KEYS), resolve({f"hoodie.{KEYS[operation]}.shuffle.parallelism": 7}, WRITE_KEYS)
    assert shuffle_tasks(operation_named(operation), unset, 0, 4) == 4
    assert shuffle_tasks(operation_named(operation), unset, 10 * GIB, 4) == 80
    assert shuffle_tasks(operation_named(operation), given, 10 * GIB, 4) == 7


@pytest.mark.parametrize("operation", KEYS)
def test_not_more_tasks_than_the_input_has_use_for(operation):
    options = resolve({f"hoodie.{KEYS[operation]}.shuffle.parallelism": 1_000_000}, WRITE_KEYS)
    assert shuffle_tasks(operation_named(operation), options, 100, 4) == 64
    assert shuffle_tasks(operation_named(operation), options, 1 * GIB, 4) == 16_384, "64 KiB a task"
    assert shuffle_tasks(operation_named(operation), options, 100, 1000) == 4000
    assert shuffle_tasks(operation_named(operation), options, 0, 4) == 10_000, "of a size that Spark does not know"
    assert input_tasks(operation_named(operation), options, 100, 4) == (64 if operation == "bulk_insert" else 4)
    told = too_many_tasks(operation_named(operation), options, 64)
    assert told == f"hoodie.{KEYS[operation]}.shuffle.parallelism=1000000 is more than the input has use for: 64 tasks"
    assert too_many_tasks(operation_named(operation), resolve({}, WRITE_KEYS), 64) is None


@pytest.mark.parametrize("operation", KEYS)
def test_a_million_tasks_on_one_row_end(tmp_path, caplog, operation):
    table = create(tmp_path / "t")
    options = {**SMALL_BLOOM, f"hoodie.{KEYS[operation]}.shuffle.parallelism": 1_000_000}
    table.write(batch([("a", "p", 1, 1)]), operation, options)
    assert "more than the input has use for: 64 tasks" in caplog.text
    assert table.read().num_rows == (operation != "delete")


def test_advice_names_what_to_give_and_what_to_set():
    options = resolve({"hoodie.parquet.block.size": 100 * MIB}, WRITE_KEYS)
    assert memory_advice(operation_named("upsert"), options, 8 * GIB, 64, 2, 1 * GIB) is None  # 3 x (128 + 100) MiB
    text = memory_advice(operation_named("upsert"), options, 8 * GIB, 8, 2, 1 * GIB)
    assert text is not None
    assert "3.3 GiB for each of the 2 tasks" in text
    assert "spark.executor.memoryOverhead of 6.6 GiB" in text
    assert "hoodie.upsert.shuffle.parallelism=27" in text
    assert memory_advice(operation_named("bulk_insert"), options, 800 * GIB, 8, 2, 1 * GIB) is None, "it streams"


class Cramped(LocalEngine):
    task_memory = 1 * MIB


def test_it_is_said_before_the_write_and_the_write_goes_on(tmp_path, caplog):
    table = create(tmp_path / "t", engine=Cramped(2))
    with caplog.at_level(logging.WARNING):
        table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert "would like about 360 MiB" in caplog.text
    assert table.read().num_rows == 1


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_bulk_insert_of_rows_at_hand_writes_as_many_files_as_it_has_tasks(tmp_path, tasks):
    table = create(tmp_path / "t")
    rows = batch([(f"k{n}", "p", 1, n) for n in range(30)])
    result = table.write(rows, "bulk_insert", {**SMALL_BLOOM, "hoodie.bulkinsert.shuffle.parallelism": tasks})
    assert result.files_written == tasks

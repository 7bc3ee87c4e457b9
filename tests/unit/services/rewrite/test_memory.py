"""File groups are merged in turns that fit into memory, by an estimate that is measured here."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hoodie import COMPACTION
from hoodie.config.keys.memory import MergeMemory
from hoodie.engine import LocalEngine
from hoodie.keygen import stored_keys
from hoodie.merge import merge_rules
from hoodie.model.files import FileSlice, LogFile
from hoodie.read.logs import LogReader
from hoodie.schema import with_meta_columns
from hoodie.services.rewrite.memory import in_turns, memory_of
from hoodie.storage.base import FileInfo
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def slice_of(size: int) -> FileSlice:
    log = LogFile("", "f", "1", 1, False, FileInfo("log", size, 0))
    return FileSlice("", "f", "1", None, (log,))


def test_turns():
    slices = [slice_of(size) for size in (1, 10, 4, 30, 1)]
    one = memory_of(slice_of(1))

    def turns(budget, tasks):
        return [[number for number, _ in turn] for turn in in_turns(slices, budget * one, LocalEngine(tasks))]

    assert turns(1000, 4) == [[3, 1, 2, 0, 4]], "all fit"
    assert turns(20, 2) == [[3], [1, 2, 0, 4]], "too large for the budget: a turn of its own"
    assert turns(10, 4) == [[3], [1], [2, 0], [4]]
    assert turns(1, 1) == [[3, 1, 2, 0, 4]], "one at a time in any case"


def test_a_compaction_in_turns_compacts_everything(tmp_path):
    table = create(tmp_path / "t", FakeClock(), LocalEngine(4), **{"hoodie.table.type": "MERGE_ON_READ"})
    for key in "abc":
        table.write(batch([(key, "p", 1, 1)]), "insert", NO_SMALL_FILES)
    table.write(batch([(key, "p", 2, 2) for key in "abc"]), "upsert", NO_SMALL_FILES)
    table.schedule(COMPACTION, force=True)
    (result,) = table.run(COMPACTION, {**SMALL_BLOOM, "hoodie.memory.compaction.max.size": 1})
    assert len(result.metadata.stats) == 3
    assert content(table) == dict.fromkeys("abc", ("p", 2, 2))


@pytest.mark.deep("it measures processes, and changes with the code that allocates")
def test_the_estimate(tmp_path):
    """Rows of short values compress well: for such logs the estimate must hold."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    random, count = np.random.default_rng(0), 50_000

    def rows():
        made = batch([(f"key-{n:012d}", "p", 0, 0) for n in range(count)])
        made = made.set_column(2, "ts", pa.array(random.integers(0, 10**9, count)))
        return made.set_column(3, "value", pa.array(random.integers(0, 10**6, count)))

    for operation in ("insert", "upsert", "upsert", "upsert"):
        table.write(rows(), operation)
    state = table.state()
    largest = max(table.file_slices(), key=lambda s: sum(log.info.size for log in s.log_files))
    rules, keys = merge_rules(state.properties), stored_keys(state.properties, table.schema)
    reader = LogReader(state.storage, state.timeline, rules, with_meta_columns(table.schema), keys)
    gc.collect()  # what earlier tests left must not go while this one looks
    before, peak, done = pa.total_allocated_bytes(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, pa.total_allocated_bytes() - before)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    rows_of_logs = reader.open(replace(largest, base_file=None)).rows(MergeMemory(1 << 30, ""))
    done.set()
    watcher.join()
    peak = max(peak, pa.total_allocated_bytes() - before)  # on a busy machine the watcher may not have had a turn
    assert rows_of_logs is not None
    assert 0 < peak <= memory_of(largest)

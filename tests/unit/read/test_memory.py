"""A slice whose logs do not fit into the memory allowed: the same rows, in bounded memory."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoodie.read.slice_reader as module
from hoodie import COMPACTION, LOG_COMPACTION
from tests.support.clock import FakeClock
from tests.support.examples import examples
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
MERGE_ON_READ = {"hoodie.table.type": "MERGE_ON_READ"}


def tiny(size, folder=""):
    return {"hoodie.memory.merge.max.size": size, "hoodie.memory.spillable.map.path": folder}


def written(path, seed, mode="EVENT_TIME_ORDERING", keys=200, version="9"):
    """A table of one file group whose logs hold updates, late rows, deletions, and keys that come back."""
    options = {**MERGE_ON_READ, "hoodie.record.merge.mode": mode, "hoodie.write.table.version": version}
    table = create(path, FakeClock(), **options)
    table.write(batch([(f"k{n:04}", "p", 5, 0) for n in range(keys)]), "insert", NO_SMALL_FILES)
    choose = random.Random(seed)
    for step in range(8):
        chosen = choose.sample(range(keys), keys // 3)
        rows = batch([(f"k{n:04}", "p", choose.randrange(12), step) for n in chosen])
        table.write(rows, "delete" if step in (3, 5) else "upsert", NO_SMALL_FILES)
    return table


@pytest.mark.histories
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 1 << 16), size=st.sampled_from([1, 600, 4_000, 20_000]))
def test_parts_give_the_same_rows(mode, seed, size):
    with tempfile.TemporaryDirectory() as folder:
        table = written(folder + "/t", seed, mode)
        whole = table.read().sort_by("id")
        assert table.read(options=tiny(size, folder)).sort_by("id").equals(whole)
        assert [path.name for path in Path(folder).iterdir()] == ["t"]  # the files of the merge are gone


def test_a_table_of_logs_only_is_merged_in_parts(tmp_path, golden):
    """`mor_logonly` has no base file: every row is new."""
    from hoodie import HoodieTable

    table = HoodieTable.open(str(golden("12v9") / "mor_avro"))
    whole = table.read()
    assert table.read(options=tiny(1, str(tmp_path))).sort_by("id").equals(whole.sort_by("id"))


def test_a_compaction_in_parts_writes_the_same_file(tmp_path, monkeypatch):
    tables = [written(tmp_path / name, 7) for name in ("whole", "parts")]
    used = []
    original = module.SliceMerger._in_parts
    monkeypatch.setattr(module.SliceMerger, "_in_parts", lambda *a: used.append(1) or original(*a))
    stats = []
    for table, options in zip(tables, ({}, tiny(2_000)), strict=True):
        table.schedule(COMPACTION, force=True)
        (result,) = table.run(COMPACTION, options)
        (stat,) = result.metadata.stats
        stats.append((stat.num_writes, stat.num_updates, stat.num_inserts, stat.num_deletes))
    assert used == [1]
    assert stats[0] == stats[1]
    assert tables[0].read().equals(tables[1].read())


@pytest.mark.histories
@pytest.mark.parametrize("version", sample(["6", "9"], 1))
def test_a_log_compaction_in_parts_adds_up_to_the_same(tmp_path, monkeypatch, version):
    monkeypatch.setattr("hoodie.services.log_compaction.plan.check_supported", lambda _state: None)
    table = written(tmp_path / "t", 7, version=version)
    whole = table.read().sort_by("id")
    threshold = {"hoodie.log.compaction.enable": True, "hoodie.log.compaction.blocks.threshold": 2}
    (result,) = table.run(LOG_COMPACTION, {**threshold, **tiny(2_000)}, time=table.schedule(LOG_COMPACTION, threshold))
    assert sum(stat.num_writes for stat in result.metadata.stats) > 100
    assert table.read().sort_by("id").equals(whole)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    assert table.read().sort_by("id").equals(whole)


def test_deletions_in_parts_where_a_struct_has_required_fields(tmp_path):
    table = create(tmp_path / "t", **MERGE_ON_READ)
    kind = pa.struct([pa.field("name", pa.string(), nullable=False)])
    rows = batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1)])
    rows = rows.append_column("more", pa.array([{"name": "x"}] * 3, kind))
    table.write(rows)
    table.write(rows.slice(0, 2))
    table.write(rows.slice(1, 1), "delete")
    assert table.read(options=tiny(1)).sort_by("id")["id"].to_pylist() == ["a", "c"]


SCRIPT = """
import re, sys
from pathlib import Path
from hoodie import COMPACTION, HoodieTable
table = HoodieTable.open(sys.argv[1])
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
table.schedule(COMPACTION, force=True)
large = {"hoodie.parquet.block.size": 8 << 20, "hoodie.parquet.compression.codec": "uncompressed"}
table.run(COMPACTION, {"hoodie.memory.merge.max.size": sys.argv[2], **large})
print(peak() - before)
"""
LARGE = {
    "hoodie.parquet.block.size": 8 << 20,
    "hoodie.parquet.compression.codec": "uncompressed",
}  # gzip takes most of the time


@pytest.mark.deep("it measures a process: rows and parts have tests of their own")
@pytest.mark.process
def test_ten_times_the_budget_in_fixed_memory(tmp_path):
    """80 MB of log rows with a budget of 8 MB: the process grows by a part of what holding them takes.

    In addition to the budget it holds a block of a log and a row group, which are kept small here.
    """
    import numpy as np

    table = create(tmp_path / "t", **MERGE_ON_READ)
    choose = np.random.default_rng(1)

    def write(first, count, step, operation):
        letters = choose.integers(97, 123, count * 2_000, dtype=np.uint8)
        offsets = np.arange(count + 1, dtype=np.int32) * 2_000
        text = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(letters))
        keys = pa.array([f"key-{n:08}" for n in range(first, first + count)])
        rows = {"id": keys, "part": pa.repeat("p", count), "ts": pa.array(np.full(count, step)), "text": text}
        table.write(pa.table(rows), operation, {**NO_SMALL_FILES, **LARGE})

    write(0, 40_000, 0, "insert")
    for step in range(10):
        write(step * 4_000, 4_000, step, "upsert")
    grown = {}
    for budget in (8 << 20, 1 << 30):
        copy = tmp_path / str(budget)
        shutil.copytree(tmp_path / "t", copy)
        done = subprocess.run([sys.executable, "-c", SCRIPT, str(copy), str(budget)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        grown[budget] = int(done.stdout) * 1024
    assert grown[8 << 20] < 160 << 20, grown
    assert grown[1 << 30] > 3 * grown[8 << 20], grown

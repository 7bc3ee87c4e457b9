"""Logs of a slice are reduced while they are read, and give what reading them whole would."""

from __future__ import annotations

import hoodie.read.logs as module
from hoodie.config.keys.memory import MergeMemory
from hoodie.keygen import stored_keys
from hoodie.merge import merge_rules
from hoodie.read.logs import LogReader
from hoodie.schema import with_meta_columns
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def test_reduced_on_the_way(tmp_path, monkeypatch):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([(f"k{n}", "p", 5, 0) for n in range(20)]), "insert", NO_SMALL_FILES)
    for step in range(12):
        rows = batch([(f"k{n}", "p", (step * 7 + n) % 11, step) for n in range(step % 5, 20, 3)])
        table.write(rows, "delete" if step in (4, 9) else "upsert", NO_SMALL_FILES)
    state = table.state()
    (file_slice,) = table.file_slices()
    reduced = 0

    def read():
        rules, keys = merge_rules(state.properties), stored_keys(state.properties, table.schema)
        reader = LogReader(state.storage, state.timeline, rules, with_meta_columns(table.schema), keys)
        return reader.open(file_slice).rows(MergeMemory(1 << 30, "")).sort_by("_hoodie_record_key")

    whole = read()
    original = module.newest_per_key

    def counted(*arguments):
        nonlocal reduced
        reduced += 1
        return original(*arguments)

    monkeypatch.setattr(module, "newest_per_key", counted)
    monkeypatch.setattr(module, "_FOLD_BYTES", 1)
    assert read().equals(whole)
    assert reduced > 2

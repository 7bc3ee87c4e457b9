"""A write that notes its files in batches dies at any storage call: as with direct markers, nothing of it stays."""

from __future__ import annotations

import pytest

from tests.support.clock import FakeClock
from tests.support.crashes import FIRST, SECOND, reopen, run_to_failure, uncommitted
from tests.support.tables import SMALL_BLOOM, content, create

BATCHED = {
    **SMALL_BLOOM,
    "hoodie.write.markers.type": "timeline_server_based",
    "hoodie.markers.timeline_server_based.batch.interval_ms": 1,
    "hoodie.parquet.small.file.limit": 0,
}


@pytest.mark.parametrize(
    ("table_type", "version", "kind", "half"),
    [
        ("COPY_ON_WRITE", "9", "kill", False),
        ("MERGE_ON_READ", "9", "full", False),
        ("MERGE_ON_READ", "6", "kill", True),
        ("COPY_ON_WRITE", "6", "deaf", False),
    ],
)
def test_a_write_with_batched_markers_that_dies_at_any_call(tmp_path, table_type, version, kind, half):
    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
        table.write(FIRST, "insert", SMALL_BLOOM)

    before = {"a": ("p", 1, 1), "b": ("p", 1, 1), "c": ("q", 1, 1)}
    after = {**before, "a": ("p", 2, 2), "d": ("p", 2, 2), "e": ("r", 2, 2)}
    noted = 0
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.write(SECOND, "upsert", BATCHED), kind, half
    ):
        noted += any(storage.list(folder).files for folder in storage.list(".hoodie/.temp").folders)
        table = reopen(storage, clock)
        assert content(table) in (before, after), call
        table.write(SECOND, "upsert", BATCHED)
        assert content(table) == after, call
        assert uncommitted(table) == [], call
        assert table.timeline.pending == (), call
        assert not storage.list(".hoodie/.temp").folders or kind == "deaf", call
    assert noted or kind != "kill", "no crash beside files of markers was tried"

"""An upsert by each index, killed at any storage call: a key that moves to another partition is in one of them, never in both."""

from __future__ import annotations

import pytest

from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure, uncommitted
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

BEFORE = {"a": ("p", 1, 1), "b": ("p", 1, 1), "c": ("q", 1, 1)}
SAME = {"a": ("p", 2, 2), "d": ("q", 2, 2)}
MOVED = {"a": ("r", 2, 2), "c": ("p", 2, 2), "d": ("q", 2, 2)}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2}
INDEXES = {
    "BLOOM": ({"hoodie.index.type": "BLOOM"}, SAME),
    "GLOBAL_SIMPLE": ({"hoodie.index.type": "GLOBAL_SIMPLE"}, MOVED),
    "GLOBAL_BLOOM": ({"hoodie.index.type": "GLOBAL_BLOOM"}, MOVED),
    "BUCKET": (BUCKETS, SAME),
    "rings": ({**BUCKETS, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, {**SAME, "e": ("r", 2, 2)}),
}
KILLED = [
    ("BLOOM", "COPY_ON_WRITE", "9", "kill", False),
    ("GLOBAL_SIMPLE", "COPY_ON_WRITE", "9", "kill", True),
    ("GLOBAL_SIMPLE", "MERGE_ON_READ", "6", "kill", False),
    ("GLOBAL_SIMPLE", "MERGE_ON_READ", "9", "full", False),
    ("GLOBAL_BLOOM", "MERGE_ON_READ", "9", "kill", True),
    ("GLOBAL_BLOOM", "COPY_ON_WRITE", "6", "kill", False),
    ("BUCKET", "COPY_ON_WRITE", "6", "kill", True),
    ("BUCKET", "MERGE_ON_READ", "9", "kill", False),
    ("BUCKET", "MERGE_ON_READ", "9", "full", False),
    ("rings", "MERGE_ON_READ", "9", "kill", True),
    ("rings", "MERGE_ON_READ", "6", "kill", False),
    ("rings", "MERGE_ON_READ", "9", "full", False),
]


def rows(of):
    return batch([(key, *values) for key, values in of.items()])


@pytest.mark.parametrize(("index", "table_type", "version", "kind", "half"), sample(KILLED, 0, 2, 4, 6, 9))
def test_an_upsert_that_dies_at_any_call(tmp_path, index, table_type, version, kind, half):
    chosen, changes = INDEXES[index]
    options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, **chosen}
    after = {**BEFORE, **changes}

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
        table.write(rows(BEFORE), "insert", options)

    seen = []
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.write(rows(changes), "upsert", options), kind, half
    ):
        table = reopen(storage, clock)
        seen.append(content(table))
        assert seen[-1] in (BEFORE, after), call
        table.write(rows(changes), "upsert", options)
        assert content(table) == after, call
        table.write(rows({"a": after["a"]}), "delete", options)
        assert content(table) == {key: row for key, row in after.items() if key != "a"}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call
    assert BEFORE in seen
    assert after in seen or kind == "full"  # files that cannot be deleted after the commit are only reported

"""Refusals of writes beside others: each names the option that ends it."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from tests.support.tables import batch, create

MOR = {"hoodie.table.type": "MERGE_ON_READ"}
BESIDE = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": 2,
    "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
}


@pytest.mark.parametrize(
    ("table", "options", "operation", "said"),
    [
        ({"hoodie.table.type": "COPY_ON_WRITE"}, {}, "upsert", "copy-on-write.*optimistic_concurrency_control"),
        ({**MOR, "hoodie.write.table.version": "6"}, {}, "upsert", "upgrade the table to version 8"),
        (MOR, {"hoodie.index.type": "SIMPLE"}, "upsert", "hoodie.index.type=BUCKET"),
        (MOR, {"hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, "upsert", "hoodie.index.bucket.engine=SIMPLE"),
        (MOR, {}, "insert_overwrite", "insert_overwrite: it would remove.*optimistic_concurrency_control"),
        (MOR, {}, "insert_overwrite_table", "insert_overwrite_table: it would remove"),
        (MOR, {}, "delete_partition", "delete_partition: it would remove"),
        (MOR, {"hoodie.clean.failed.writes.policy": "EAGER"}, "upsert", "non_blocking_concurrency_control excludes"),
        (
            MOR,
            {"hoodie.write.concurrency.early.conflict.detection.enable": "true"},
            "upsert",
            "early.conflict.detection.enable is for several",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, table, options, operation, said):
    made = create(tmp_path / "t", **table)
    with pytest.raises(ConfigError, match=said):
        made.write(batch([("a", "p", 1, 1)]), operation, {**BESIDE, **options})
    assert not list(made.timeline)

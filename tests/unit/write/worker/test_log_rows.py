"""Deletions go to the block of a log that all readers take for one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.formats.log import BlockType, scan_blocks
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def rows(deleted=None, operation=None, op=None, ts=1):
    columns = {"id": ["a"], "part": ["p"], "ts": pa.array([ts], pa.int64())}
    columns["_hoodie_is_deleted"] = pa.array([deleted], pa.bool_())
    columns["_hoodie_operation"] = pa.array([operation], pa.string())
    return pa.table({**columns, "op": pa.array([op], pa.string())})


@pytest.mark.parametrize(
    ("change", "operation", "blocks", "left"),
    [
        (rows(ts=2), "upsert", [BlockType.PARQUET_DATA], 1),
        (rows(deleted=True, ts=2), "upsert", [BlockType.PARQUET_DATA], 0),
        (rows(operation="D", ts=2), "upsert", [BlockType.PARQUET_DATA], 0),
        (rows(op="D", ts=2), "upsert", [BlockType.DELETE], 0),
        (rows(ts=2), "delete", [BlockType.DELETE], 0),
    ],
    ids=["no deletion", "flag", "operation", "marker", "by key"],
)
def test_the_block_of_a_deletion(tmp_path, change, operation, blocks, left):
    marked = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"}, **marked)
    table.write(rows(), "insert", APART)
    table.write(change, operation, APART)
    [log] = [log for each in table.file_slices() for log in each.log_files]
    assert [block.kind for block in scan_blocks(table.storage, log.path)] == blocks
    assert table.read().num_rows == left

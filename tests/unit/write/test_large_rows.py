"""Rows that are large beside row groups and batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION
from hoodie.engine import LocalEngine
from hoodie.formats import base_file
from hoodie.formats.base_file import BaseFileReader
from tests.support.tables import SMALL_BLOOM, create

ROW_GROUP = 1 << 20  # bytes: the least that can be set


def rows(keys, ts, size):
    texts = [f"{key}{ts}" * (size // len(f"{key}{ts}")) for key in keys]
    columns = {"id": list(keys), "part": ["p"] * len(keys), "ts": [ts] * len(keys), "text": texts}
    return pa.table(columns)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_rows_larger_than_a_row_group(tmp_path, kind, operation):
    options = {**SMALL_BLOOM, "hoodie.parquet.block.size": ROW_GROUP}
    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    table.write(rows("ab", 1, 3 * ROW_GROUP), operation, options)
    table.write(rows("a", 2, 3 * ROW_GROUP), "upsert", options)
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        assert len(table.run(COMPACTION, options)) == 1
    wanted = pa.concat_tables([rows("a", 2, 3 * ROW_GROUP), rows("b", 1, 3 * ROW_GROUP)])
    assert table.read().sort_by("id").equals(wanted)


def test_a_batch_of_a_base_file_has_a_bounded_size(tmp_path, monkeypatch):
    """Otherwise merging copies gigabytes, and a text column of Arrow cannot have more than two."""
    monkeypatch.setattr(base_file, "BATCH_BYTES", 100_000)
    keys = [f"k{number:03d}" for number in range(100)]
    table = create(tmp_path / "t", engine=LocalEngine(1))
    table.write(rows(keys, 1, 10_000), "bulk_insert", SMALL_BLOOM)
    (piece,) = table.file_slices()
    with BaseFileReader(table.storage, piece.base_file.path) as reader:
        whole = list(reader.batches())
        assert max(batch.nbytes for batch in whole) < 200_000
        assert sum(batch.num_rows for batch in whole) == len(keys)
        assert [batch.num_rows for batch in reader.batches(["id", "ts"])] == [len(keys)], "those columns are small"
    table.write(rows(keys[40:60], 2, 10_000), "upsert", SMALL_BLOOM)
    assert table.read(columns=["ts"])["ts"].to_pylist().count(2) == 20

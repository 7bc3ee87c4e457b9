"""A bulk insert holds little: row groups leave one by one, and the footer still knows every key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.formats.base_file import BaseFileReader
from hoodie.write.worker import bulk
from tests.support.tables import batch, create

PARTITIONS = ("a", "b", "c")
BLOOM = {"hoodie.index.bloom.num_entries": 500, "hoodie.bloom.index.filter.dynamic.max.entries": 2000}
ROWS = [(f"key{n:05d}", PARTITIONS[n % 7 % 3], 1, n) for n in range(3000)]


@pytest.mark.parametrize(("pending", "smallest", "most"), [(20_000, 1_000, 20), (1_000, 30_000, 70)])
def test_what_does_not_fit_leaves_as_a_row_group(tmp_path, monkeypatch, pending, smallest, most):
    """By the largest of the open files; while all are small, not before they hold several times as much."""
    monkeypatch.setattr(bulk, "_CHUNK_BYTES", 2_000)
    monkeypatch.setattr(bulk, "_PENDING_BYTES", pending)
    monkeypatch.setattr(bulk, "_SMALLEST_BYTES", smallest)
    table = create(tmp_path / "t", engine=LocalEngine(1))
    inputs = pa.concat_tables(batch(ROWS[start : start + 50]) for start in range(0, len(ROWS), 50))
    assert table.write(inputs, "bulk_insert", BLOOM).files_written == len(PARTITIONS)
    row_groups = 0
    for piece in table.file_slices():
        with BaseFileReader(table.storage, piece.base_file.path) as reader:
            wanted = [key for key, partition, *_ in ROWS if piece.partition == f"part={partition}"]
            found = pa.concat_tables(reader.batches(["_hoodie_record_key"]))["_hoodie_record_key"]
            assert found.to_pylist() == wanted
            assert reader.row_groups > 2
            row_groups += reader.row_groups
            index = reader.key_index()
            assert (index.minimum, index.maximum) == (wanted[0], wanted[-1])
            assert index.bloom.contains(found).all()
            assert not index.bloom.contains(pa.array(["other"])).any()
    assert row_groups < most
    assert table.read().num_rows == len(ROWS)

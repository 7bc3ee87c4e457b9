"""Incoming rows get their keys, partitions and places, piece by piece."""

from __future__ import annotations

from itertools import count

import pyarrow as pa
import pytest

from hoodie.errors import RecordKeyError
from hoodie.markers import DirectMarkers
from hoodie.model.internal_columns import DELETE, SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.transaction.data_file import OpenDataFile
from hoodie.write.plan import write_context
from hoodie.write.worker.rows import by_key_hash, chunks, keyed_rows, split_by
from tests.support.tables import batch, create

ROWS = batch([("a", "p", 1, 1), ("b", "q", 1, 2), ("c", "p", 1, 3)])


@pytest.fixture
def keyed(tmp_path):
    """-> the rows of split 2, of which each is a piece."""

    numbers = count()

    def found(rows=ROWS, operation="upsert", deletions=None, **options):
        table = create(tmp_path / str(next(numbers)), **options)
        plan = table.plan_write(rows.schema, operation, deletions=deletions)
        writing = OpenDataFile(DirectMarkers(table.storage, "20260101000000000"), "", str)
        return list(keyed_rows(write_context(plan, writing), 2, rows.to_batches(max_chunksize=1), max_bytes=1))

    return found


def column(pieces, name):
    return [value for piece in pieces for value in piece[name].to_pylist()]


def test_places_go_on_from_piece_to_piece(keyed):
    pieces = keyed()
    assert len(pieces) == 3
    assert column(pieces, SEQUENCE) == [(2 << 40) + place for place in range(3)]
    assert column(pieces, RECORD_KEY) == ["a", "b", "c"]
    assert column(pieces, PARTITION_PATH) == ["part=p", "part=q", "part=p"]
    assert column(pieces, DELETE) == [False, False, False]


def test_generated_keys_differ_from_piece_to_piece(keyed):
    keys = column(keyed(operation="insert", **{"hoodie.table.recordkey.fields": ""}), RECORD_KEY)
    assert len(set(keys)) == 3
    assert all(key.startswith("20260101000000000_2_") for key in keys), keys


def test_rows_that_are_deletions(keyed):
    assert column(keyed(operation="delete"), DELETE) == [True, True, True]
    marked = ROWS.append_column("gone", pa.array([True, None, False]))
    assert column(keyed(marked, deletions="gone"), DELETE) == [True, False, False]


def test_a_row_without_an_ordering_value_is_refused(keyed):
    with pytest.raises(RecordKeyError, match="Ordering column 'ts' is null"):
        keyed(batch([("a", "p", None, 1)]))


def test_pieces_are_of_some_size():
    batches = ROWS.to_batches(max_chunksize=1)
    sizes = [batches[0].nbytes, batches[0].nbytes + batches[1].nbytes]
    assert [[piece.num_rows for piece in chunks(batches, size)] for size in sizes] == [[1, 1, 1], [2, 1]]
    assert list(chunks([])) == []


def test_a_key_has_one_bucket_whatever_rows_are_beside_it():
    rows = pa.table({RECORD_KEY: [f"k{number % 50}" for number in range(100)]})
    found = {bucket: set(part[RECORD_KEY].to_pylist()) for bucket, part in by_key_hash(rows, 4)}
    assert sum(map(len, found.values())) == 50
    assert len(found) == 4
    for bucket, part in by_key_hash(rows.slice(7, 3), 4):
        assert set(part[RECORD_KEY].to_pylist()) <= found[bucket]
    assert [bucket for bucket, _ in by_key_hash(rows, 1)] == [0]


def test_rows_of_a_bucket_keep_their_order():
    parts = split_by(ROWS, pa.array([3, 0, 3]).to_numpy(), 5)
    assert [(bucket, part["id"].to_pylist()) for bucket, part in parts] == [(0, ["b"]), (3, ["a", "c"])]

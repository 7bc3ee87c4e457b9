"""A bulk insert that meets more partitions than it may have files open: one file each, in any order."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.formats.base_file import BaseFileReader
from hoodie.write.worker import bulk
from tests.support.tables import batch, create


@pytest.fixture
def few_open(monkeypatch):
    monkeypatch.setattr(bulk, "_CHUNK_BYTES", 2_000)
    monkeypatch.setattr(bulk, "_OPEN_FILES", 4)
    monkeypatch.setattr(bulk, "_PILES", 3)


def entries(partitions, rows):
    numbers = [n % partitions for n in range(partitions * rows)]
    random.Random(7).shuffle(numbers)
    return [(f"key{place:05d}", f"p{number}", 1, place) for place, number in enumerate(numbers)]


def in_pieces(rows):
    return pa.concat_tables(batch(rows[start : start + 40]) for start in range(0, len(rows), 40))


@pytest.mark.parametrize("partitions", [1, 4, 5, 60])
def test_each_partition_gets_one_file_with_its_rows_in_order(tmp_path, few_open, partitions):
    rows = entries(partitions, 20)
    table = create(tmp_path / "t", engine=LocalEngine(1))
    options = {"hoodie.memory.spillable.map.path": str(tmp_path)}
    assert table.write(in_pieces(rows), "bulk_insert", options).files_written == partitions
    for piece in table.file_slices():
        with BaseFileReader(table.storage, piece.base_file.path) as reader:
            found = pa.concat_tables(reader.batches(["_hoodie_record_key"]))["_hoodie_record_key"]
            assert found.to_pylist() == [key for key, part, *_ in rows if piece.partition == f"part={part}"]
            assert reader.key_index().bloom.contains(found).all()
    assert os.listdir(tmp_path) == ["t"]


def test_no_more_files_are_open_than_allowed(tmp_path, few_open, monkeypatch):
    most = now = 0
    opened, closed = bulk._OpenFile.__post_init__, bulk._OpenFile.close

    def on_open(file):
        nonlocal most, now
        now += 1
        most = max(most, now)
        opened(file)

    def on_close(file):
        nonlocal now
        now -= 1
        return closed(file)

    monkeypatch.setattr(bulk._OpenFile, "__post_init__", on_open)
    monkeypatch.setattr(bulk._OpenFile, "close", on_close)
    table = create(tmp_path / "t", engine=LocalEngine(1))
    assert table.write(in_pieces(entries(60, 5)), "bulk_insert").files_written == 60
    assert (most, now) == (4, 0)


def test_a_failure_leaves_no_rows_put_aside(tmp_path, few_open):
    table = create(tmp_path / "t", engine=LocalEngine(1))
    rows = in_pieces([*entries(60, 5), ("", "p1", 1, 1)])
    with pytest.raises(Exception, match="null or empty"):
        table.write(rows, "bulk_insert", {"hoodie.memory.spillable.map.path": str(tmp_path)})
    assert os.listdir(tmp_path) == ["t"]
    assert not list((tmp_path / "t").rglob("*.parquet"))

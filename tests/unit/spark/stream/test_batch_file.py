"""The file with the last batch of a query."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.spark.stream.batch_file import BatchFile
from hoodie.spark.stream.batches import WrittenBatch
from tests.support.tables import create

LAST = WrittenBatch(3, "r", Time.of("20261125214411007"), "c")
NEXT = WrittenBatch(4, "r", Time.of("20261125214411008"), "c")


@pytest.fixture
def storage(tmp_path):
    return create(tmp_path / "t").access.storage


def test_each_query_has_a_file(storage):
    file, other = BatchFile(storage, "q"), BatchFile(storage, "Ü/" * 500)
    assert file.load() is None
    file.store(LAST)
    other.store(NEXT)
    assert BatchFile(storage, "q").load() == LAST
    file.store(NEXT)
    assert BatchFile(storage, "q").load() == BatchFile(storage, "Ü/" * 500).load() == NEXT


def test_a_later_run_keeps_its_batch(storage):
    """A run that was taken for dead may end its batch behind those of the next run."""
    first = BatchFile(storage, "q")
    first.store(LAST)
    for _ in range(2):
        later = BatchFile(storage, "q")
        later.load()
        later.store(NEXT)
        first.store(LAST)
        BatchFile(storage, "q").store(LAST)
        assert BatchFile(storage, "q").load() == NEXT


def test_a_storage_without_conditions_keeps_none(storage):
    class Plain:
        base_path = "/t"

    file = BatchFile(Plain(), "q")
    file.store(LAST)
    assert file.load() is None


@pytest.mark.parametrize("change", [None, {"batch": "x"}, {"query": "other"}, {"instant": 7}])
def test_a_damaged_file_is_an_error(storage, change):
    file = BatchFile(storage, "q")
    file.store(LAST)
    text = storage.read(file.path).decode()
    storage.delete(file.path)
    storage.create(file.path, b"[" if change is None else json.dumps(json.loads(text) | change).encode())
    with pytest.raises(CorruptTableError, match="has no batch of query q"):
        BatchFile(storage, "q").load()

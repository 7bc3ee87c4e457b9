"""The keys of a slice: those of its base file with their places, and those that its logs insert."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.index.simple import SimpleIndex
from hoodie.keygen import stored_keys
from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.view.table_schema import table_schema
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

APART = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture
def table(tmp_path):
    """A base file with a, b and c, a log that updates c, and one that deletes b; another file group with d."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "p", 1, 1)]), "insert", APART)
    table.write(batch([("c", "p", 2, 2)]), "upsert", APART)
    table.write(batch([("b", "p", 3, 3)]), "delete", APART)
    table.write(batch([("d", "p", 1, 1)]), "insert", APART)
    return table


def found(table, *, positions=False, sought=None):
    """(key, group, its place in the base file) of the keys of all slices, the group of a, b and c first."""
    state = table.state()
    slices = sorted(table.file_slices(), key=lambda each: -len(each.log_files))
    index = SimpleIndex(stored_keys(state.properties, table_schema(state)), positions, sought)
    batches = [each for split in index.stored_keys(state, slices, 1) for each in split.batches()]
    names = [RECORD_KEY, GROUP, *([POSITION] if positions else [])]
    return [tuple(row[name] for name in names) for row in pa.Table.from_batches(batches).to_pylist()]


def test_keys_of_base_files_and_logs_but_not_of_delete_blocks(table):
    assert sorted(found(table)) == [("a", 0), ("b", 0), ("c", 0), ("c", 0), ("d", 1)]


def test_places_are_those_of_the_base_file(table):
    wanted = [("a", 0, 0), ("b", 0, 1), ("c", 0, -1), ("c", 0, 2), ("d", 1, 0)]
    assert sorted(found(table, positions=True)) == wanted


def test_of_a_slice_whose_base_file_is_ruled_out_the_logs_are_read(table):
    assert sorted(found(table, sought=frozenset({1}))) == [("c", 0), ("d", 1)]

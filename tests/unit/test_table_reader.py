"""The half of a table that changes nothing."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.storage import storage_of
from hoodie.table_reader import TableReader
from tests.support.tables import batch, create

CHANGES = {
    "write",
    "alter",
    "truncate",
    "delete_partitions",
    "savepoint",
    "delete_savepoint",
    "mend",
    "schedule",
    "run",
}


def test_the_reader_has_no_method_that_changes_a_table():
    assert {name for name in CHANGES if hasattr(HoodieTable, name)} == CHANGES
    assert [name for name in CHANGES if hasattr(TableReader, name)] == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_reader_alone_reads_what_the_table_wrote(tmp_path, kind):
    table = create(tmp_path / "t", **{"hoodie.datasource.write.table.type": kind})
    first = table.write(batch([("a", "p", 1, 10), ("b", "q", 2, 20)])).instant
    table.write(batch([("a", "p", 2, 11)]))
    reader = TableReader(storage_of(table.base_path))
    assert reader.read(["id", "value"]).sort_by("id").to_pydict() == {"id": ["a", "b"], "value": [11, 20]}
    assert reader.read(["value"], "id = 'a'", as_of=first.time).to_pydict() == {"value": [10]}
    assert reader.read_incremental(first.completion_time, columns=["id"]).to_pydict() == {"id": ["a"]}
    assert reader.schema == table.schema
    assert len(reader.file_slices()) == 2
    assert not reader.diagnose().findings
    assert reader.savepoints() == []

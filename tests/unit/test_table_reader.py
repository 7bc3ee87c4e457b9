"""The half of a table that changes nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, RecordKeyError
from hoodie.storage import storage_of
from hoodie.table_reader import TableReader
from tests.support.tables import SMALL_BLOOM, batch, create

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


def test_a_planned_write_changes_nothing_and_says_what_the_write_does(tmp_path):
    table = create(tmp_path / "t")
    assert table.stored_schema is None
    table.write(batch([("a", "p", 1, 10)]), options=SMALL_BLOOM)
    files = sorted(path for path in (tmp_path / "t").rglob("*"))
    wider = pa.schema([*batch([]).schema, ("more", pa.float64())])
    plan = table.plan_write(wider, "insert", SMALL_BLOOM)
    assert plan.operation.name == "insert"
    assert plan.schema == wider
    assert plan.properties == table.properties
    assert plan.record_keys.fields == ("id",)
    assert plan.paths.fields == ("part",)
    assert plan.warnings == ()
    assert plan.tasks(1 << 30, 4) == 4
    assert table.plan_write(wider).operation.name == "upsert", "Hudi's default"
    with pytest.raises(RecordKeyError, match="'part'"):
        table.plan_write(pa.schema([("id", pa.string())]))
    with pytest.raises(ConfigError, match="'upsrt' is not known"):
        table.plan_write(wider, "upsrt")
    assert sorted(path for path in (tmp_path / "t").rglob("*")) == files
    assert table.stored_schema == table.schema == batch([]).schema

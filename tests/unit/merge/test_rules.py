"""Columns that merging has to see."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.config.properties.merge import Deletion
from hoodie.errors import SchemaConflictError
from hoodie.merge.rules import MergeRules
from tests.support.tables import batch, create

META = pa.struct([("ts", pa.int64()), ("text", pa.string())])
SCHEMA = pa.schema(
    [
        ("_hoodie_record_key", pa.string()),
        ("id", pa.string()),
        ("text", pa.string()),
        ("meta", META),
        ("op", pa.string()),
        ("_hoodie_is_deleted", pa.bool_()),
    ]
)


def test_ordering_fields_inside_a_struct_need_its_column_once():
    rules = MergeRules(("meta.ts", "text", "meta.text"), ("meta.ts",), Deletion("op", "D"))
    assert rules.columns(SCHEMA) == ["meta", "text", "_hoodie_is_deleted", "op"]
    assert rules.copied(SCHEMA, ["id"]) == {"text", "op"}


@pytest.mark.parametrize("name", ["gone", "part.gone"])
def test_logs_ordered_by_a_field_that_is_not_there_are_not_merged(tmp_path, name):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1)]))
    table.write(batch([("a", "p", 2, 2)]))
    table.schedule(COMPACTION, force=True)
    properties = tmp_path / "t" / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("ordering.fields=ts", f"ordering.fields={name}"))
    theirs = HoodieTable.open(str(tmp_path / "t"))
    for merge in (theirs.read, lambda: theirs.run(COMPACTION)):
        with pytest.raises(SchemaConflictError, match=f"'{name}' is not in the table's schema"):
            merge()
    assert theirs.read(read_optimized=True)["ts"].to_pylist() == [1]

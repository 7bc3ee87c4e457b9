"""Columns that merging has to see."""

from __future__ import annotations

import pyarrow as pa

from hoodie.config.merging import Deletion
from hoodie.merge.rules import MergeRules

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

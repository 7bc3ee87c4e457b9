"""Rows of several tables as rows of one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import SchemaConflictError
from hudi_services.sources.cdc.mysql.source_columns import (
    as_changes,
    changes_schema,
    changes_with_source,
    fitted_changes,
    fitted_rows,
    schema_with_source,
    widest,
)
from hudi_services.sources.cdc.mysql.table_source import TableSource

SOURCE = TableSource("shop", "b", "s1")
NARROW = pa.schema([("id", pa.int32()), ("v", pa.string())])
WIDE = pa.schema([("id", pa.int64()), ("more", pa.float64())])


def test_columns_are_joined_by_name_and_hold_all_values():
    joined = widest(widest(None, schema_with_source(NARROW)), schema_with_source(WIDE))
    assert joined.names == ["_source_database", "_source_table", "id", "v", "more"]
    assert joined.field("id").type == pa.int64()
    rows = fitted_rows(pa.table({"id": [1], "v": ["x"]}, schema=NARROW), SOURCE, joined)
    assert rows.to_pylist() == [{"_source_database": "b", "_source_table": "s1", "id": 1, "v": "x", "more": None}]


@pytest.mark.parametrize("kinds", [(pa.int32(), pa.float64()), (pa.float32(), pa.int64()), (pa.string(), pa.int32())])
def test_types_that_lose_values_do_not_go_together(kinds):
    with pytest.raises(SchemaConflictError, match="n"):
        widest(*(pa.schema([("n", kind)]) for kind in kinds))


def test_a_column_with_the_name_of_the_source_is_refused():
    with pytest.raises(SchemaConflictError, match="where rows are from"):
        schema_with_source(pa.schema([("_SOURCE_table", pa.int32())]))


def test_changes_keep_images_that_are_missing():
    inserts = as_changes(pa.table({"id": [1, 2], "v": ["x", None]}, schema=NARROW), "i", NARROW)
    deletes = as_changes(pa.table({"id": pa.array([3], pa.int32())}), "d", NARROW)
    joined = widest(schema_with_source(NARROW), schema_with_source(WIDE))
    changes = fitted_changes(changes_with_source(pa.concat_tables([inserts, deletes]).slice(1), SOURCE), joined)
    assert changes.schema == changes_schema(joined)
    named = {"_source_database": "b", "_source_table": "s1", "more": None}
    assert changes["after"].to_pylist() == [{**named, "id": 2, "v": None}, None]
    assert changes["before"].to_pylist() == [None, {**named, "id": 3, "v": None}]

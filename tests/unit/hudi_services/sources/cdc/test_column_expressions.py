"""Columns that are added to rows and to the images of changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import SchemaConflictError
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.databases.expressions import ColumnExpressions

ADDED = AddedColumns(ColumnExpressions({"Twice": "id * 2 + coalesce(extra, 0)"}))
STORED = pa.schema([("id", pa.int32()), ("extra", pa.int32()), ("Twice", pa.int32())])
IMAGE = pa.struct([("id", pa.int32())])


def test_rows_get_the_columns_and_columns_of_the_table_that_they_lack_are_null():
    rows = pa.record_batch({"id": pa.array([1, 2], pa.int32())})
    assert ADDED.batch(rows, STORED).to_pylist() == [{"id": 1, "Twice": 2}, {"id": 2, "Twice": 4}]
    assert ADDED.batch(rows.slice(0, 0), STORED).schema == ADDED.schema(rows.schema, STORED)
    assert ADDED.schema(STORED, None).names == ["id", "extra", "Twice"]
    assert (NOTHING_ADDED.batch(rows, None), NOTHING_ADDED.text) == (rows, "")
    assert ADDED.text == '{"Twice": "id * 2 + coalesce(extra, 0)"}'


def test_images_of_changes_get_the_columns_and_null_images_stay_null():
    """An insert has no image before: nothing is computed of it."""
    added = AddedColumns(ColumnExpressions({"n": "CASE WHEN id IS NULL THEN error('no row') ELSE 10 // id END"}))
    before, after = pa.array([None, {"id": 2}, {"id": 3}], IMAGE), pa.array([{"id": 5}, {"id": 2}, None], IMAGE)
    changes = pa.table({"op": ["i", "u", "d"], "number": [0, 1, 2], "before": before, "after": after})
    result = added.changes(changes, None)
    assert result["before"].to_pylist() == [None, {"id": 2, "n": 5}, {"id": 3, "n": 3}]
    assert result["after"].to_pylist() == [{"id": 5, "n": 2}, {"id": 2, "n": 5}, None]
    assert added.changes(changes.slice(0, 0), None).schema == result.schema


def test_a_column_of_the_server_with_the_name_is_an_error():
    with pytest.raises(SchemaConflictError, match=r"The table db\.t has a column 'TWICE'"):
        ADDED.check(["id", "TWICE"], "db.t")
    ADDED.check(["id"], "db.t")

"""Columns that are added to rows and to the images of changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, SchemaConflictError
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
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


def test_a_column_that_takes_the_place_of_one_is_where_that_was_and_reads_the_servers_values():
    added = AddedColumns(ColumnExpressions({"V": "v * 2", "w": "v + id"}))
    rows = pa.record_batch({"id": [1, 2], "v": [10, None], "x": ["a", "b"]})
    expected = [{"id": 1, "V": 20, "x": "a", "w": 11}, {"id": 2, "V": None, "x": "b", "w": None}]
    stored = added.schema(rows.schema, None)
    assert added.batch(rows, stored).to_pylist() == expected
    assert added.batch(rows, stored).schema == added.schema(rows.schema, stored) == stored
    kind = pa.struct(list(rows.schema))
    before, after = pa.array([rows.to_pylist()[0], None], kind), pa.array([None, rows.to_pylist()[1]], kind)
    changes = pa.table({"op": ["d", "i"], "number": [0, 1], "before": before, "after": after})
    result = added.changes(changes, stored)
    assert (result["before"].to_pylist(), result["after"].to_pylist()) == ([expected[0], None], [None, expected[1]])


def test_expressions_read_columns_that_are_dropped():
    masks = Masks({"v": "drop", "s": "drop"})
    added = AddedColumns(ColumnExpressions({"v": "upper(v)", "n": "s + 1"}))
    rows = pa.record_batch({"id": [1], "v": ["a"], "s": [7]})
    assert added.batch(rows, None, masks).to_pylist() == [{"id": 1, "v": "A", "n": 8}]
    assert added.schema(rows.schema, None, masks).names == ["id", "v", "n"]
    with pytest.raises(ConfigError, match="'n' cannot be used"):
        added.schema(pa.schema([("id", pa.int64()), ("v", pa.string())]), pa.schema([("id", pa.int64())]), masks)


def test_a_column_of_the_server_with_the_name_is_an_error_unless_it_is_left_out_by_name():
    """A column that the server gets later would be lost in silence."""
    with pytest.raises(SchemaConflictError, match=r"The table db\.t has a column 'TWICE'"):
        ADDED.check(["id", "TWICE"], NO_MASKS, "db.t")
    ADDED.check(["id"], NO_MASKS, "db.t")
    ADDED.check(["id", "TWICE"], Masks({"TWICE": "drop"}), "db.t")
    ADDED.check(["id", "TWICE"], Masks(only=frozenset(["id"])), "db.t")
    itself = AddedColumns(ColumnExpressions({"id": "id * 2", "Twice": "id * 2"}))
    itself.check(["ID"], NO_MASKS, "db.t")
    with pytest.raises(SchemaConflictError, match="a column 'twice'"):
        itself.check(["id", "twice"], NO_MASKS, "db.t")


def test_a_column_of_the_key_keeps_its_values():
    ADDED.check_key(["id"], ["twice"], "db.t")
    with pytest.raises(ConfigError, match=r"'id' is a part of the key of db\.t, so no expression can take its place"):
        AddedColumns(ColumnExpressions({"ID": "id * 2"})).check_key(["id"], ["x", "id"], "db.t")

"""Columns of a Hudi table by those of the server."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.cdc.lake_columns import LakeColumns
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
from hudi_services.sources.databases.expressions import ColumnExpressions

ADDED = AddedColumns(ColumnExpressions({"copy": "'= ' || email"}))
COLUMNS = LakeColumns(Masks({"email": "mask"}), ADDED)


def test_expressions_see_masked_values_only():
    rows = pa.record_batch({"email": ["ann@example.com"]})
    assert COLUMNS.batch(rows).to_pylist() == [{"email": "***", "copy": "= ***"}]
    assert LakeColumns(Masks({"email": "drop"}), ADDED).batch(rows).to_pylist() == [{"copy": "= ann@example.com"}]


def test_columns_that_the_table_does_not_have_from_the_server():
    added = AddedColumns(ColumnExpressions({"email": "upper(email)", "n": "length(note) + id"}))
    columns = LakeColumns(Masks(only=frozenset(["id", "email", "x"])), added)
    server = pa.schema([("id", pa.int32()), ("email", pa.string()), ("note", pa.string()), ("y", pa.string())])
    assert columns.read(server).names == ["id", "email", "note"]
    assert columns.schema(server).names == ["id", "email", "n"]
    assert columns.carried(server).names == columns.carried(columns.schema(server)).names == ["id"]
    assert columns.unstored(columns.schema(server)) == {"email", "note", "n"}
    columns.check(server, "db.t")
    with pytest.raises(ConfigError, match="'n' cannot be used"):
        columns.check(pa.schema([server.field("id"), server.field("email")]), "db.t")
    with pytest.raises(ConfigError, match="'email' is a part of the key"):
        columns.check_key(server, ["id", "email"], "db.t")
    assert not LakeColumns(NO_MASKS, added).keep_values(server)
    assert LakeColumns(NO_MASKS, ADDED).keep_values(server)


def test_another_way_to_make_columns_is_refused():
    COLUMNS.compare(COLUMNS.texts, "/lake/t")
    with pytest.raises(ConfigError, match="masked in another way"):
        LakeColumns(NO_MASKS, ADDED).compare(COLUMNS.texts, "/lake/t")
    with pytest.raises(ConfigError, match=r"computed in another way.*no added columns here"):
        LakeColumns(COLUMNS.masks, NOTHING_ADDED).compare(COLUMNS.texts, "/lake/t")

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
    with pytest.raises(ConfigError, match="'copy' cannot be used"):
        LakeColumns(Masks({"email": "drop"}), ADDED).schema(rows.schema)


def test_another_way_to_make_columns_is_refused():
    COLUMNS.compare(COLUMNS.texts, "/lake/t")
    with pytest.raises(ConfigError, match="masked in another way"):
        LakeColumns(NO_MASKS, ADDED).compare(COLUMNS.texts, "/lake/t")
    with pytest.raises(ConfigError, match=r"computed in another way.*no added columns here"):
        LakeColumns(COLUMNS.masks, NOTHING_ADDED).compare(COLUMNS.texts, "/lake/t")

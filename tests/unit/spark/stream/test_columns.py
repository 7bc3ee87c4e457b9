"""The columns of a query, and the table that has changed since it started."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.errors import SchemaConflictError
from hoodie.spark.stream.columns import check_columns, stream_columns
from hoodie.spark.stream.options import stream_options
from hoodie.table import HoodieTable
from tests.support.tables import OPTIONS

INT, LONG, TEXT = pa.int32(), pa.int64(), pa.string()
DATA = {
    "id": TEXT,
    "part": TEXT,
    "ts": LONG,
    "price": pa.decimal128(10, 2),
    "at": pa.timestamp("us", "UTC"),
    "tags": pa.list_(TEXT),
    "deep": pa.struct({"a": INT, "b": TEXT}),
    "map": pa.map_(TEXT, INT),
}
FITS = {
    "id": TEXT,
    "ts": pa.float64(),
    "price": pa.decimal128(12, 2),
    "at": pa.timestamp("us", "UTC"),
    "deep": pa.struct({"a": LONG}),
    "map": pa.map_(TEXT, LONG),
}
OTHERS = {
    "ts": INT,
    "price": pa.decimal128(8, 2),
    "deep": pa.struct({"c": INT}),
    "tags": pa.list_(INT),
    "gone": TEXT,
    "at": pa.date32(),
    "map": pa.map_(TEXT, pa.bool_()),
    "id": pa.list_(TEXT),
}


@pytest.mark.parametrize("shape", ["cdc", "latest_state"])
def test_what_the_columns_of_a_query_can_hold(tmp_path, shape):
    state = HoodieTable.create(tmp_path / "t", OPTIONS, pa.schema(DATA)).state()
    options = stream_options({"path": str(tmp_path / "t"), "hoodie.datasource.query.incremental.format": shape})
    check_columns(state, options, stream_columns(state, options))

    def check(columns):
        named = {"after": pa.struct(columns)} if shape == "cdc" else columns
        check_columns(state, options, from_arrow_schema(pa.schema(named)))

    check(FITS)
    for name, kind in OTHERS.items():
        with pytest.raises(SchemaConflictError, match=f"'{name}' .* has changed .* at its checkpoint"):
            check({name: kind})

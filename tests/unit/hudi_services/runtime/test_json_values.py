"""Values as JSON has them, and the types that are numbers."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.runtime.json_values import is_number, json_row_values


def test_values_that_json_does_not_have_are_text() -> None:
    columns = {"f": [float("nan"), 0.5], "m": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32()))}
    assert json_row_values(pa.table(columns)) == [{"f": "nan", "m": {"a": 1}}, {"f": 0.5, "m": None}]


def test_booleans_and_times_are_no_numbers() -> None:
    assert all(map(is_number, (pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(38, 2))))
    assert not any(map(is_number, (pa.bool_(), pa.date32(), pa.string(), pa.list_(pa.int32()))))

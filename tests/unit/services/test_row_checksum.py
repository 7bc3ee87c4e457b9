"""Equal rows have equal hashes however they are stored; any difference shows."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from hoodie.services.row_checksum import row_hashes

VALUES = {
    "int": ([1, None, 0], pa.int32()),
    "long": ([2**40, None, -1], pa.int64()),
    "double": ([1.5, None, 0.0], pa.float64()),
    "bool": ([True, None, False], pa.bool_()),
    "text": (["a", None, ""], pa.string()),
    "bytes": ([b"\xff", None, b""], pa.binary()),
    "date": ([datetime.date(2024, 1, 2), None, datetime.date(1970, 1, 1)], pa.date32()),
    "time": ([datetime.datetime(2024, 1, 2), None, datetime.datetime(1970, 1, 1)], pa.timestamp("us")),
    "decimal": ([decimal.Decimal("1.20"), None, decimal.Decimal("0.00")], pa.decimal128(10, 2)),
    "list": ([[1, 2], None, []], pa.list_(pa.int32())),
    "struct": ([{"x": 1, "y": "a"}, None, {"x": None, "y": ""}], pa.struct([("x", pa.int32()), ("y", pa.string())])),
    "map": ([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("name", VALUES)
def test_each_value_has_a_hash_of_its_own(name):
    values, kind = VALUES[name]
    rows = pa.table({"c": pa.array(values * 3, kind)})
    hashes = row_hashes(rows)
    assert len(set(hashes.tolist())) == 3, "null, empty and a value differ"
    assert (hashes[:3] == hashes[3:6]).all()
    sliced = pa.concat_tables([rows.slice(4), rows.slice(0, 4)])
    assert row_hashes(sliced).sum() == hashes.sum()
    assert (row_hashes(rows.slice(2, 3)) == hashes[2:5]).all()


def test_places_count():
    def of(**columns):
        return row_hashes(pa.table(columns)).tolist()

    assert of(a=["x"], b=["y"]) != of(a=["y"], b=["x"])
    assert of(a=[{"x": 1, "y": 2}]) != of(a=[{"x": 2, "y": 1}])
    assert of(a=[[1, 2]]) != of(a=[[2, 1]])
    assert of(a=[[[1], [2]]]) != of(a=[[[1, 2], []]])
    assert of(a=pa.array(["x", "y"]).dictionary_encode()) == of(a=["x", "y"])
    assert np.array(of(a=list(range(10000)))).size == len(set(of(a=list(range(10000)))))

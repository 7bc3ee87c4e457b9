"""Rows of a query as JSON."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie.sql import Result
from hudi_services.sql.output import print_json


def test_nested_values_go_by_their_types(capsys: pytest.CaptureFixture[str]) -> None:
    tags = pa.map_(pa.string(), pa.list_(pa.map_(pa.int32(), pa.float64())))
    columns = {
        "m": pa.array([[("a", [[(1, 0.5)], []])], [], None], tags),
        "s": pa.array([{"m": []}, {"m": [("a", [])]}, None], pa.struct([("m", tags)])),
        "l": pa.array([[], [[]], [None]], pa.list_(pa.list_(pa.int32()))),
    }
    print_json(Result(pa.table(columns)))
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"m": {"a": [{"1": 0.5}, {}]}, "s": {"m": {}}, "l": []},
        {"m": {}, "s": {"m": {"a": []}}, "l": [[]]},
        {"m": None, "s": None, "l": [None]},
    ]

"""Rows of a query as JSON."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie.sql import Result
from hudi_services.cli.program import main
from hudi_services.sql.output import print_json


def test_rows_wider_than_the_terminal_go_down_the_page(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    query = ["sql", "--warehouse", "w", "-e", f"SELECT 1 AS n, '{'x' * 50}' AS t, CAST(NULL AS INT) AS u, true AS b"]
    assert main(query) == 0
    assert capsys.readouterr().out == f"── 1 ──\nn  1\nt  {'x' * 50}\nu  NULL\nb  true\n"
    assert main([*query, "--wide"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"1  {'x' * 50}  NULL  true"


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


def test_keys_of_maps_are_names_as_json_has_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--warehouse", "w", "--json", "-e", "SELECT map(true, 1) AS b, map(X'ff', 1) AS x"]) == 0
    assert json.loads(capsys.readouterr().out) == {"b": {"true": 1}, "x": {"/w==": 1}}


def test_columns_with_one_name_are_no_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--warehouse", "w", "--json", "-e", "SELECT 1 AS a, 2 AS a"]) == 1
    assert "Two columns of the query have one name: a" in capsys.readouterr().err

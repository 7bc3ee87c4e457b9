"""Texts that Hudi's writers do not agree on, and folders that Hudi cannot find again, are refused and not guessed."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.errors import RecordKeyError
from hoodie.keygen import PartitionPaths, RecordKeys


def column(values, kind):
    return pa.table({"c": pa.array(values, kind)})


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        (pa.float64(), [1.0, 1e10, 0.1, float("nan"), -0.0, 1e-5], ["1.0", "1.0E10", "0.1", "NaN", "-0.0", "1.0E-5"]),
        (pa.float32(), [0.1, -9999999.0, float("-inf")], ["0.1", "-9999999.0", "-Infinity"]),
        (pa.decimal128(12, 10), [Decimal("0.00000001"), Decimal(1)], ["1.00E-8", "1.0000000000"]),
        (pa.timestamp("us"), [datetime(1970, 1, 1, 0, 0, 1)], ["1000000"]),
        (pa.date32(), [date(2026, 1, 2)], ["2026-01-02"]),
        (pa.dictionary(pa.int8(), pa.string()), ["x"], ["x"]),
    ],
)
def test_texts(kind, values, texts):
    assert RecordKeys(("c",), with_names=False).of(column(values, kind)).to_pylist() == texts


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.float64(), 1e16),
        (pa.float64(), 2.0**-44),
        (pa.float64(), 5e-324),
        (pa.float32(), 1e7),
        (pa.timestamp("us", "UTC"), datetime(2026, 1, 1)),
        (pa.binary(), b"x"),
        (pa.list_(pa.string()), ["x"]),
        (pa.date32(), 2_932_897),
    ],
)
def test_values_without_a_stable_text(kind, value):
    table = column([value], kind)
    with pytest.raises(RecordKeyError, match="'c'"):
        RecordKeys(("c",), with_names=False).of(table)
    with pytest.raises(RecordKeyError, match="'c'"):
        PartitionPaths(("c",), hive_style=True, url_encode=True).of(table)


@pytest.mark.parametrize(
    "value", ["a:b", "/a", "a/", "a//b", "/", "..", ".", "a/../b", "a/./b", ".hoodie", ".hoodie/x"]
)
def test_values_that_are_no_folder(value):
    with pytest.raises(RecordKeyError, match="no folder name"):
        PartitionPaths(("c",), hive_style=False, url_encode=False).of(column([value], pa.string()))


def test_hive_style_and_encoding_make_folders_of_them():
    def path(value, **style):
        return PartitionPaths(("c",), **style).of(column([value], pa.string())).to_pylist()[0]

    assert path(".", hive_style=True, url_encode=False) == "c=."
    assert path("a/../b:c", hive_style=False, url_encode=True) == "a%2F..%2Fb%3Ac"


def test_timestamps_are_no_partitions():
    with pytest.raises(RecordKeyError, match="cannot be a partition column"):
        PartitionPaths(("c",), hive_style=True, url_encode=False).of(column([datetime(2026, 1, 1)], pa.timestamp("us")))

"""Casts never change a value: values that another type cannot hold are reported."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.ingest.exact_cast import ExactFit

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("values", "given", "kind", "wanted"),
    [
        (["007", "7", "x", None, "9223372036854775808"], None, pa.int64(), [7, 7, ..., None, ...]),
        (
            ["1.50", "1.005", "12345678.00", "1e1"],
            None,
            pa.decimal128(6, 2),
            [Decimal("1.50"), ..., ..., Decimal("10.00")],
        ),
        (["1.5", "9007199254740993", "1e400"], None, pa.float64(), [1.5, ..., ...]),
        (["true", "false", "1", "maybe"], None, pa.bool_(), [True, False, True, ...]),
        (["2026-01-31", "31.01.2026", "2026-01-31 10:00"], None, pa.date32(), [date(2026, 1, 31), ..., ...]),
        (
            ["2026-01-31T10:00:00Z", "2026-01-31"],
            None,
            pa.timestamp("us", "UTC"),
            [datetime(2026, 1, 31, 10, tzinfo=UTC), ...],
        ),
        ([1, 2, None], None, pa.string(), ["1", "2", None]),
        ([1.5, 2.0, NAN, INF], None, pa.int64(), [..., 2, ..., ...]),
        ([1.5, 1.005, NAN, INF, 12.35], None, pa.decimal128(10, 2), [Decimal("1.50"), ..., ..., ..., Decimal("12.35")]),
        ([1.5, 0.1, 1e300, INF], None, pa.float32(), [1.5, pytest.approx(0.1), ..., INF]),
        ([2**53, 2**53 + 1], None, pa.float64(), [2.0**53, ...]),
        ([Decimal(2**53), Decimal(2**53 + 1), Decimal(2**53 + 2)], None, pa.float64(), [2.0**53, ..., 2.0**53 + 2]),
        ([Decimal("0.10"), Decimal("123456789.00")], None, pa.float32(), [pytest.approx(0.1), ...]),
        ([Decimal("9" * 38)], None, pa.float32(), [...]),
        ([Decimal("1.9"), None], None, pa.float64(), [1.9, None]),
        ([0, 1, 2, -1], None, pa.bool_(), [False, True, ..., ...]),
        ([1, 300], None, pa.int8(), [1, ...]),
        ([Decimal("1.50"), Decimal("1.55")], None, pa.decimal128(10, 1), [Decimal("1.5"), ...]),
        ([Decimal("1.00"), Decimal("1.50")], None, pa.int64(), [1, ...]),
        ([datetime(2026, 1, 31), datetime(2026, 1, 31, 10)], None, pa.date32(), [date(2026, 1, 31), ...]),
        ([1700000000], None, pa.timestamp("us"), [...]),
        ([20260131], None, pa.date32(), [...]),
        ([datetime(2026, 1, 31)], None, pa.timestamp("us", "UTC"), [...]),
        ([datetime(2026, 1, 31, tzinfo=UTC)], pa.timestamp("us", "UTC"), pa.timestamp("us"), [...]),
        ([[1], None], None, pa.int64(), [..., None]),
        ([None, None], pa.null(), pa.int64(), [None, None]),
        ([], pa.string(), pa.int64(), []),
    ],
)
def test_cast(values, given, kind, wanted):
    fitted = ExactFit(kind)(pa.array(values, given))
    assert fitted.column.type == kind
    got = [... if place in fitted.misfits else value for place, value in enumerate(fitted.column.to_pylist())]
    assert got == wanted


def test_inside_structs_and_lists():
    kind = pa.struct([("a", pa.decimal128(10, 2)), ("l", pa.list_(pa.int32()))])
    given = pa.struct([("a", pa.float64()), ("l", pa.list_(pa.float64()))])
    rows = [{"a": 1.5, "l": [1.0]}, {"a": 1.005, "l": []}, None, {"a": None, "l": [1.0, 2.5]}, {"a": 2.0, "l": None}]
    fitted = ExactFit(kind)(pa.array(rows, given))
    assert set(fitted.misfits) == {1, 3}
    assert fitted.column[0].as_py() == {"a": Decimal("1.50"), "l": [1]}
    assert fitted.column[4].as_py() == {"a": Decimal("2.00"), "l": None}


def test_reasons():
    assert ExactFit(pa.timestamp("us"))(pa.array([1])).misfits == {
        0: "a number is no timestamp[us]: say with `timestamps` what it counts, such as epoch_ms"
    }
    assert ExactFit(pa.decimal128(4, 2))(pa.array([1.005])).misfits == {0: "1.005 would be 1.00"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1700000000, pa.timestamp("us")),
        (datetime(2026, 1, 31), pa.timestamp("us", "UTC")),
        (datetime(2026, 1, 31, tzinfo=UTC), pa.timestamp("us")),
    ],
)
def test_what_is_refused_is_so_inside_structs_and_lists(value, kind):
    fitted = ExactFit(pa.struct([("a", pa.list_(kind))]))(pa.array([{"a": [value]}, None]))
    assert set(fitted.misfits) == {0}

"""Values of older files in the types of now, as Hudi 1.2.0 was seen to change them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.schema.promotion import java_text, promoted

FLOAT = pa.array([1.1, 101.01, None], pa.float32())


@pytest.mark.parametrize(
    ("stored", "kind", "expected"),
    [
        (FLOAT, "double", [1.1, 101.01, None]),
        (FLOAT, "string", ["1.1", "101.01", None]),
        (FLOAT, "decimal(10, 4)", [Decimal("1.1000"), Decimal("101.0100"), None]),
        (pa.array([1001.0001, 1e10]), "string", ["1001.0001", "1.0E10"]),
        (pa.array([2.5]), "decimal_fixed(10, 2)[5]", [Decimal("2.50")]),
        (pa.array([3], pa.int32()), "decimal(12, 2)", [Decimal("3.00")]),
        (pa.array([2**62]), "decimal(25, 0)", [Decimal(2**62)]),
        (pa.array(["x"]), "date", ["x"]),  # Arrow's own cast does the rest
    ],
)
def test_promoted(stored, kind, expected):
    assert promoted(stored, kind).to_pylist() == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16777217.0, "1.6777216E7"),
        (0.00001, "1.0E-5"),
        (0.001, "0.001"),
        (9999999.0, "9999999.0"),
        (-0.0, "-0.0"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (1.5e-10, "1.5E-10"),
    ],
)
def test_java_text(value, text):
    assert java_text(value, single=True) == text


def test_what_does_not_fit_is_refused():
    with pytest.raises(pa.ArrowInvalid):
        promoted(pa.array([12345678], pa.int32()), "decimal(4, 2)")

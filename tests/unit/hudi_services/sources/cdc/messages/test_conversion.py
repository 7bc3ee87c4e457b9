"""Columns of messages beside those of the target."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.conversion import fitted

LOCAL, INSTANT = pa.timestamp("us"), pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("kind", "known", "result"),
    [
        (pa.int32(), pa.int64(), pa.int32()),
        (pa.int64(), pa.int32(), pa.int64()),
        (pa.int64(), pa.float64(), pa.int64()),
        (pa.string(), pa.decimal128(10, 2), pa.decimal128(10, 2)),
        (pa.decimal128(38, 0), pa.decimal128(20, 0), pa.decimal128(20, 0)),
        (pa.decimal128(10, 4), pa.decimal128(10, 2), pa.decimal128(10, 4)),
        (LOCAL, pa.timestamp("ms"), LOCAL),
        (INSTANT, pa.timestamp("ms", "UTC"), INSTANT),
        (pa.binary(), pa.binary(4), pa.binary(4)),
        (pa.list_(pa.int32()), pa.list_(pa.int64()), pa.list_(pa.int32())),
    ],
)
def test_values_of_one_meaning_fit(kind, known, result):
    assert fitted(kind, known).type == result


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (LOCAL, INSTANT),
        (INSTANT, LOCAL),
        (pa.string(), pa.binary()),
        (pa.binary(), pa.string()),
        (pa.bool_(), pa.int32()),
        (pa.string(), pa.date32()),
        (pa.int32(), pa.string()),
    ],
)
def test_values_of_another_meaning_are_refused(kind, known):
    with pytest.raises(ValueError, match="for a column of the type"):
        fitted(kind, known)


def test_numbers_keep_their_digits_or_are_refused():
    small = pa.decimal128(10, 2)
    assert fitted(pa.float64(), small).values(pa.array([0.1, 12345678.91])).to_pylist() == [
        Decimal("0.10"),
        Decimal("12345678.91"),
    ]
    for kind, value in ((pa.float64(), 0.001), (pa.string(), "1.005"), (pa.string(), "x")):
        with pytest.raises(pa.ArrowInvalid):
            fitted(kind, small).values(pa.array([value], kind))

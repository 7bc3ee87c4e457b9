"""Bytes of rows: equal for equal rows, different for all others."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.equality.row_text import row_bytes


def of(schema, *rows, charsets=None):
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), schema, strict=True)]
    names = [f"c{number}" for number in range(len(schema))]
    return row_bytes(pa.record_batch(columns, names), names, charsets or {}).to_pylist()


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), [None, "", "NULL", "-", ";", "0:", "1:a", "a", "a;", "2:ab", "ab", "é"]),
        (pa.binary(), [None, b"", b"-", b"0:", b"\0", b"\0\0", b"\xff"]),
        (pa.float64(), [None, 0.0, -0.0, 1.0, float("nan"), 5e-324]),
        (pa.int32(), [None, 0, -1, 1, 11]),
        (pa.decimal128(9, 3), [None, *map(Decimal, ("0", "0.001", "-0.001", "1", "-1", "0.010"))]),
    ],
)
def test_no_two_rows_of_different_values_have_the_same_bytes(kind, values):
    pairs = list(itertools.product(values, repeat=3))
    assert len(set(of([kind] * 3, *pairs))) == len(pairs)


def test_bytes_are_those_of_the_documentation():
    kinds = [pa.bool_(), pa.decimal128(20, 18), pa.timestamp("us", "UTC"), pa.float32(), pa.string(), pa.date32()]
    row = (True, Decimal("-0.000000000000000001"), 1_500_000, 1.0, "é", 0)
    assert of(kinds, row) == [
        b"1;-0.000000000000000001;1970-01-01 00:00:01.500000;+" + b"\0\0\0\0\0\0\xf0?" + "2:é1970-01-01;".encode()
    ]
    assert of(kinds, (None,) * 6) == [b";;;--;"]
    with pytest.raises(ValueError, match="list"):
        of([pa.list_(pa.int32())], ([1],))


def test_text_is_in_the_character_set_of_its_column():
    kinds, charsets = [pa.string()], {"c0": "latin1"}
    assert of(kinds, ("€",), ("\x81",), ("a",), charsets=charsets) == [b"1:\x80", b"1:\x81", b"1:a"]
    assert of(kinds, ("a",), charsets={"c0": "ucs2"}) == [b"2:\0a"]
    assert of(kinds, ("ʽ",), charsets={"c0": "greek"}) == [b"1:\xa1"]
    [foreign] = of(kinds, ("中",), charsets=charsets)
    assert len(foreign) > 15  # no value of the server is that

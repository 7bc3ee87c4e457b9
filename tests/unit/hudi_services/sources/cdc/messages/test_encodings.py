"""Base64 and numbers in bytes, against Python's own."""

from __future__ import annotations

import base64
import random
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.encodings import bit_bytes, decimals, from_base64, padded_bytes


def signed(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def test_base64_is_that_of_python():
    random.seed(5)
    values = [None, b"", *(random.randbytes(random.randrange(40)) for _ in range(500)), None, b"\0"]
    texts = pa.array([None if value is None else base64.b64encode(value).decode() for value in values])
    assert from_base64(texts).to_pylist() == values
    assert from_base64(texts.slice(3, 50)).to_pylist() == values[3:53]
    assert from_base64(texts.slice(0, 0)).to_pylist() == []


@pytest.mark.parametrize("text", ["a", "====", "a===", "=aaa", "ab=c", "YW%j", "YQ==YQ==", "YQ-_", "YW Jj", "YÄA="])
def test_what_is_no_base64_is_refused(text):
    with pytest.raises(ValueError, match="no base64"):
        from_base64(pa.array(["YWJj", text]))


def test_decimals_keep_each_digit():
    numbers = [0, -1, 127, 128, -128, -129, 10**38 - 1, -(10**38) + 1, None]
    raw = pa.array([None if number is None else signed(number) for number in numbers], pa.binary())
    found = decimals(raw, 38, 10)
    assert found.type == pa.decimal128(38, 10)
    assert found.to_pylist() == [None if number is None else Decimal(f"{number}e-10") for number in numbers]
    assert decimals(pa.array([b"\0" * 5 + b"\x05"]), 4, 0).to_pylist() == [Decimal(5)]


def test_numbers_that_are_too_long_for_a_decimal_are_texts():
    numbers = [10**65 - 1, -(10**65) + 1, -1, 0, None]
    raw = pa.array([None if number is None else signed(number) for number in numbers], pa.binary())
    nines = "9" * 35 + "." + "9" * 30
    zeros = "0." + "0" * 29
    assert decimals(raw, 65, 30).to_pylist() == [nines, f"-{nines}", f"-{zeros}1", f"{zeros}0", None]


@pytest.mark.parametrize("raw", [signed(100), b"", b"\1" * 17])
def test_numbers_with_other_digits_are_refused(raw):
    with pytest.raises(ValueError, match="a number"):
        decimals(pa.array([raw]), 2, 0)


def test_bits_and_fixed_bytes_have_their_width():
    assert bit_bytes(pa.array([b"\x55\x01", None, b"\x01"]), 2).to_pylist() == [b"\x01\x55", None, b"\0\x01"]
    assert padded_bytes(pa.array([b"\1\2", None, b""]), 3).to_pylist() == [b"\1\2\0", None, b"\0" * 3]
    with pytest.raises(ValueError, match="3 bytes for a column of 2"):
        bit_bytes(pa.array([b"123"]), 2)

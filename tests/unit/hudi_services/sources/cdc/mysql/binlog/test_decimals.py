"""Packed decimals as Arrow arrays."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.decimals import decimals_of
from hudi_services.sources.cdc.mysql.binlog.images import DIGIT_BYTES


def packed(value, precision, scale):
    """The bytes of a decimal as the server packs it: groups of nine digits, counted from the point."""
    digits = f"{abs(value).scaleb(scale):.0f}".rjust(precision, "0")
    whole = precision - scale
    groups = [digits[: whole % 9], *(digits[start : start + 9] for start in range(whole % 9, whole, 9))]
    groups += [digits[start : start + 9] for start in range(whole, precision, 9)]
    data = b"".join(int(group or 0).to_bytes(DIGIT_BYTES[len(group)], "big") for group in groups)
    data = bytes([data[0] ^ 0x80]) + data[1:]
    return data if value >= 0 else bytes(byte ^ 0xFF for byte in data)


def test_numbers_of_all_widths_are_read():
    draw = random.Random(3)
    for precision, scale in ((1, 0), (1, 1), (9, 0), (10, 2), (18, 9), (27, 13), (38, 0), (38, 38), (39, 0), (65, 30)):
        values = [Decimal(draw.randrange(10**precision)).scaleb(-scale, None) for _ in range(20)]
        values += [-value for value in values if value] + [Decimal(0)]
        raw = np.array([list(packed(value, precision, scale)) for value in values], np.uint8)
        found = decimals_of(raw, precision, scale)
        if precision <= 38:
            assert found.type == pa.decimal128(precision, scale)
            assert found.to_pylist() == values
        else:
            assert found.to_pylist() == [f"{value:.{scale}f}" for value in values]

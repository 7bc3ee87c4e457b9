"""Every type of MariaDB with values at its edges: the declaration, the type in Arrow, and pairs of SQL and value."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

LONG = "x" * 70_000
TYPES = [
    ("TINYINT", pa.int32(), [("-128", -128), ("127", 127)]),
    ("TINYINT UNSIGNED", pa.int32(), [("0", 0), ("255", 255)]),
    ("BOOLEAN", pa.int32(), [("TRUE", 1), ("7", 7)]),
    ("SMALLINT", pa.int32(), [("-32768", -32768), ("32767", 32767)]),
    ("SMALLINT UNSIGNED", pa.int32(), [("65535", 65535)]),
    ("MEDIUMINT", pa.int32(), [("-8388608", -8388608), ("-1", -1), ("8388607", 8388607)]),
    ("MEDIUMINT UNSIGNED", pa.int32(), [("16777215", 16777215)]),
    ("INT", pa.int32(), [("-2147483648", -(2**31)), ("2147483647", 2**31 - 1)]),
    ("INT UNSIGNED", pa.int64(), [("4294967295", 2**32 - 1)]),
    ("BIGINT", pa.int64(), [("-9223372036854775808", -(2**63)), ("9223372036854775807", 2**63 - 1)]),
    ("BIGINT UNSIGNED", pa.decimal128(20, 0), [("18446744073709551615", Decimal(2**64 - 1)), ("0", Decimal(0))]),
    ("DECIMAL(10,2)", pa.decimal128(10, 2), [("-12345678.91", Decimal("-12345678.91")), ("-0.01", Decimal("-0.01"))]),
    ("DECIMAL(38,0)", pa.decimal128(38, 0), [("-" + "9" * 38, Decimal("-" + "9" * 38)), ("0", Decimal(0))]),
    ("DECIMAL(18,18)", pa.decimal128(18, 18), [("-0.000000000000000001", Decimal("-0.000000000000000001"))]),
    (
        "DECIMAL(38,30)",
        pa.decimal128(38, 30),
        [("12345678." + "123456789" * 3 + "012", Decimal("12345678." + "123456789" * 3 + "012"))],
    ),
    (
        "DECIMAL(65,30)",
        pa.string(),
        [("-" + "9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30), ("0", "0." + "0" * 30)],
    ),
    ("FLOAT", pa.float32(), [("-1.5", -1.5), ("0.1", pytest.approx(0.1))]),
    ("DOUBLE", pa.float64(), [("1.7976931348623157e308", 1.7976931348623157e308), ("0.1", 0.1)]),
    ("BIT(1)", pa.bool_(), [("b'1'", True), ("b'0'", False)]),
    ("BIT(9)", pa.binary(), [("b'101010101'", b"\x01\x55")]),
    ("BIT(64)", pa.binary(), [("18446744073709551615", b"\xff" * 8)]),
    ("YEAR", pa.int32(), [("1901", 1901), ("2155", 2155), ("'0000'", 0)]),
    (
        "DATE",
        pa.date32(),
        [
            ("'0001-01-01'", date(1, 1, 1)),
            ("'9999-12-31'", date(9999, 12, 31)),
            ("'0000-00-00'", None),
            ("'2020-02-00'", None),
        ],
    ),
    (
        "DATETIME",
        pa.timestamp("us"),
        [("'1000-01-01 00:00:00'", datetime(1000, 1, 1)), ("'0000-00-00 00:00:00'", None)],
    ),
    ("DATETIME(2)", pa.timestamp("us"), [("'1969-12-31 23:59:59.99'", datetime(1969, 12, 31, 23, 59, 59, 990000))]),
    ("DATETIME(6)", pa.timestamp("us"), [("'9999-12-31 23:59:59.999999'", datetime(9999, 12, 31, 23, 59, 59, 999999))]),
    (
        "TIMESTAMP NULL",
        pa.timestamp("us", "UTC"),
        [("'1970-01-01 00:00:01'", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)), ("'0000-00-00 00:00:00'", None)],
    ),
    (
        "TIMESTAMP(6) NULL",
        pa.timestamp("us", "UTC"),
        [("'2038-01-19 03:14:07.000001'", datetime(2038, 1, 19, 3, 14, 7, 1, UTC))],
    ),
    ("TIME", pa.string(), [("'-838:59:59'", "-838:59:59"), ("'00:00:00'", "00:00:00"), ("'25:01:02'", "25:01:02")]),
    ("TIME(3)", pa.string(), [("'-01:02:03.456'", "-01:02:03.456"), ("'100:00:00.001'", "100:00:00.001")]),
    ("TIME(6)", pa.string(), [("'-00:00:00.000001'", "-00:00:00.000001"), ("'838:59:59.999999'", "838:59:59.999999")]),
    ("CHAR(5)", pa.string(), [("'ab '", "ab"), ("''", "")]),
    ("CHAR(255)", pa.string(), [("REPEAT('é', 255)", "é" * 255)]),
    ("VARCHAR(300)", pa.string(), [("'héllo😀'", "héllo😀"), ("REPEAT('x', 300)", "x" * 300)]),
    ("VARCHAR(20) CHARACTER SET latin1", pa.string(), [("'€éÿ'", "€éÿ"), ("CHAR(0x81 USING latin1)", "\x81")]),
    ("VARCHAR(20) CHARACTER SET gbk", pa.string(), [("'中文'", "中文")]),
    ("VARCHAR(20) CHARACTER SET ucs2", pa.string(), [("'żó'", "żó")]),
    ("VARCHAR(20) CHARACTER SET utf32", pa.string(), [("'😀'", "😀")]),
    ("VARCHAR(20) CHARACTER SET koi8r", pa.string(), [("'да'", "да")]),
    ("VARCHAR(20) COLLATE utf8mb4_bin", pa.string(), [("'ß'", "ß")]),
    ("TINYTEXT", pa.string(), [("'t'", "t")]),
    ("TEXT", pa.string(), [("REPEAT('x', 60000)", LONG[:60_000])]),
    ("MEDIUMTEXT CHARACTER SET utf8mb3", pa.string(), [("REPEAT('x', 70000)", LONG)]),
    ("LONGTEXT", pa.string(), [("''", "")]),
    ("BINARY(5)", pa.binary(), [("x'0102'", b"\1\2\0\0\0"), ("x'0000000000'", b"\0" * 5)]),
    ("VARBINARY(300)", pa.binary(), [("x'00ff00'", b"\0\xff\0")]),
    ("TINYBLOB", pa.binary(), [("x''", b"")]),
    ("LONGBLOB", pa.binary(), [("REPEAT(x'00', 70000)", b"\0" * 70_000)]),
    ("ENUM('x', 'ö', '')", pa.string(), [("'ö'", "ö"), ("''", ""), ("0", "")]),
    ("SET('a', 'b', 'ü')", pa.string(), [("'ü,a'", "a,ü"), ("''", "")]),
    ("JSON", pa.string(), [("""'{"a": [1, "ü"]}'""", '{"a": [1, "ü"]}')]),
]

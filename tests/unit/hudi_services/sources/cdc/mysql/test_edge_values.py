"""Values at the edges of their types: each row by snapshot is the row by binlog, bit for bit."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.support.binlog import log_end, logged
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot import snapped

pytestmark = pytest.mark.process
SET64 = [f"label{number}" for number in range(64)]
LABELS = ", ".join(f"'{label}'" for label in SET64)
POINT = "ST_GeomFromText('POINT(1 -2.5)', 4326)"
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)
COLUMNS = [
    ("FLOAT", [("-0.0", -0.0), ("3.4028234663852886e38", 3.4028234663852886e38), ("-1e-45", -1.401298464324817e-45)]),
    ("FLOAT(9,2)", [("1234567.89", 1234567.875), ("-0.01", pytest.approx(-0.01))]),
    ("FLOAT UNSIGNED ZEROFILL", [("1.17549435e-38", 1.1754943508222875e-38), ("7", 7.0)]),
    ("DOUBLE", [("-0.0", -0.0), ("-1.7976931348623157e308", -1.7976931348623157e308), ("5e-324", 5e-324)]),
    ("DOUBLE(20,2)", [("123456789012345678.91", 123456789012345680.0), ("0.1", 0.1)]),
    ("DOUBLE", [("0.1 + 0.2", pytest.approx(0.3)), ("2.2250738585072014e-308", 2.2250738585072014e-308)]),
    ("BIGINT UNSIGNED ZEROFILL", [("18446744073709551615", Decimal(2**64 - 1)), ("0", Decimal(0))]),
    ("INT(3) ZEROFILL", [("1234", 1234), ("7", 7)]),
    ("DECIMAL(65,30)", [("-" + "9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30), ("-1e-30", "-0." + "0" * 29 + "1")]),
    ("DECIMAL(65,0)", [("-" + "9" * 65, "-" + "9" * 65), ("0", "0")]),
    ("DECIMAL(38,38)", [("-0." + "9" * 38, Decimal("-0." + "9" * 38))]),
    ("DECIMAL(5,2) UNSIGNED ZEROFILL", [("1.5", Decimal("1.50"))]),
    ("BIT(64)", [("0", b"\0" * 8), ("18446744073709551615", b"\xff" * 8)]),
    ("BIT(1)", [("b'1'", True), ("b'0'", False)]),
    ("DATETIME(6)", [("'0001-01-01'", datetime(1, 1, 1)), ("'9999-12-31 23:59:59.999999'", LAST)]),
    ("TIMESTAMP(6) NULL", [("'1970-01-01 00:00:00.000001'", datetime(1970, 1, 1, 0, 0, 0, 1, UTC))]),
    ("TIMESTAMP(6) NULL", [("'2038-01-19 03:14:07.999999'", datetime(2038, 1, 19, 3, 14, 7, 999999, UTC))]),
    ("TIMESTAMP NULL", [("'1970-01-01 00:00:01'", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))]),
    ("TIME(6)", [("'-838:59:59.999999'", "-838:59:59.999999"), ("'838:59:59.999999'", "838:59:59.999999")]),
    ("TIME(6)", [("'-00:00:00.1'", "-00:00:00.100000"), ("'0'", "00:00:00.000000")]),
    ("YEAR", [("'0000'", 0), ("1901", 1901), ("2155", 2155)]),
    (f"SET({LABELS})", [("18446744073709551615", ",".join(SET64)), ("0", ""), ("1 << 63", SET64[63])]),
    ("ENUM('x', 'y')", [("'nothing'", ""), ("2", "y")]),
    (f"ENUM({', '.join(f'{chr(39)}e{number}{chr(39)}' for number in range(300))})", [("300", "e299"), ("1", "e0")]),
    ("GEOMETRY", [(POINT, bytes.fromhex("e6100000" "0101000000" "000000000000f03f" "00000000000004c0"))]),
    ("LINESTRING", [("ST_GeomFromText('LINESTRING(0 0, 1 1)')", None)]),
    ("CHAR(5)", [("'a  '", "a"), ("'  '", "")]),
    ("CHAR(3) CHARACTER SET ucs2", [("'é '", "é"), ("''", "")]),
    ("VARCHAR(5)", [("'a  '", "a  "), ("''", "")]),
    ("BINARY(3)", [("'a '", b"a \0"), ("''", b"\0\0\0")]),
    ("VARBINARY(3)", [("x'6100'", b"a\0"), ("''", b"")]),
    ("TINYBLOB", [("''", b""), ("REPEAT(x'ff', 255)", b"\xff" * 255)]),
    ("JSON", [("'{\"b\": 1,  \"a\": [1.50]}'", '{"b": 1,  "a": [1.50]}'), ("'null'", "null")]),
    ("BOOLEAN", [("TRUE", 1), ("-128", -128)]),
]  # fmt: skip
IN_MYSQL = {
    "-838:59:59.999999": "-838:59:59.000000",
    "838:59:59.999999": "838:59:59.000000",
    '{"b": 1,  "a": [1.50]}': '{"a": [1.5], "b": 1}',
}
ONLY_MARIADB = ("DECIMAL(38,38)",)
OTHER_IN_MYSQL = ("TIMESTAMP(6) NULL", "GEOMETRY")  # the first moment is a second later, and latitudes come first
OTHERS = """n INT DEFAULT 7, g1 INT AS (n + 1) VIRTUAL, g2 VARCHAR(20) AS (CONCAT('n', n)) STORED, h INT DEFAULT 8 INVISIBLE,
  s VARCHAR(9) DEFAULT 'x', r INT NOT NULL"""


def bits(table):
    """The columns of a table as they are compared: numbers by their bits, since -0.0 is 0.0 otherwise."""
    views = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}
    columns = [column.combine_chunks() for column in table.columns]
    return [column.view(views[column.type]) if column.type in views else column for column in columns]


def test_each_row_by_snapshot_is_the_row_by_binlog_bit_for_bit(server):
    columns = [column for column in COLUMNS if server.name != "mysql" or column[0] not in ONLY_MARIADB]
    names = [f"c{number}" for number in range(len(columns))]
    declared = ", ".join(f"{name} {kind}" for name, (kind, _) in zip(names, columns, strict=True))
    server.run("CREATE DATABASE edge", f"CREATE TABLE edge.t (id INT PRIMARY KEY AUTO_INCREMENT, {declared}, {OTHERS})")
    start = log_end(server)
    inserts = ["INSERT INTO edge.t (n, s, h) VALUES (NULL, NULL, NULL)"]
    for row in range(max(len(values) for _, values in columns)):
        chosen = {name: values[row][0] for name, (_, values) in zip(names, columns, strict=True) if row < len(values)}
        inserts.append(f"INSERT INTO edge.t ({', '.join(chosen)}) VALUES ({', '.join(chosen.values())})")
    server.run("SET SESSION sql_mode = '', time_zone = '+00:00'", *inserts)
    parts = logged(server, start)
    with snapped(server, "edge", "t") as found:
        snapshot = found.rows.read_all()
    after = pa.concat_tables([part.changes.select(["after"]) for part in parts]).combine_chunks()["after"].chunk(0)
    binlog = pa.Table.from_struct_array(after)
    assert snapshot.schema.equals(binlog.schema)
    wrong = [
        (snapshot.schema.names[place], one.to_pylist(), other.to_pylist())
        for place, (one, other) in enumerate(zip(bits(snapshot), bits(binlog), strict=True))
        if not one.equals(other)
    ]
    assert wrong == []
    rows = snapshot.to_pylist()
    expected = [
        (row, name, IN_MYSQL.get(value, value) if server.name == "mysql" and isinstance(value, str) else value)
        for name, (kind, values) in zip(names, columns, strict=True)
        for row, (_, value) in enumerate(values, 1)
        if value is not None and not (server.name == "mysql" and kind in OTHER_IN_MYSQL)
    ]
    assert [(name, rows[row][name]) for row, name, value in expected if rows[row][name] != value] == []
    assert [tuple(row.values())[-6:] for row in rows[:2]] == [
        (None, None, None, None, None, 0),
        (7, 8, "n7", 8, "x", 0),
    ]
